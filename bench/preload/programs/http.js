// SPDX-License-Identifier: MIT
// http.js WORKLOAD SECONDS: a request and its answer, one at a time, over one connection, to a server
// in another process. An operation is a round trip. The lines that are printed are
// those of meter.h.
'use strict';

const { fork } = require('child_process');
const http = require('http');
const process = require('process');

const WARM = 0.25;
const STRIDE = 16;
const HOST = '127.0.0.1';
const ANSWER = 'x'.repeat(64);

function past(at) {
  return Number(process.hrtime.bigint() - at) * 1e-9;
}

function serve() {
  const server = http.createServer((_request, response) => response.end(ANSWER));
  server.keepAliveTimeout = 0;    // a client that is stopped for 5 s keeps its connection
  server.listen(0, HOST, () => process.send(server.address().port));
  process.on('disconnect', () => process.exit(0));
}

function client(port) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  return () => new Promise((resolve, reject) => {
    http.get({ host: HOST, port, agent }, (response) => {
      let text = '';
      response.on('data', (piece) => { text += piece; });
      response.on('end', () => (text === ANSWER ? resolve() : reject(new Error('another answer'))));
    }).on('error', reject);
  });
}

async function turns(turn, seconds) {
  const at = process.hrtime.bigint();
  let ops = 0;
  let taken = 0;
  do {
    for (let i = 0; i < STRIDE; i++) await turn();
    ops += STRIDE;
    taken = past(at);
  } while (taken < seconds);
  return { ops, seconds: taken };
}

function main() {
  const seconds = Number(process.argv[3]);
  if (process.argv[2] !== 'keepalive' || !(seconds > 0 && seconds <= 3600)
      || process.argv.length !== 4) {
    console.error('want keepalive; and SECONDS, up to 3600');
    process.exit(2);
  }
  const server = fork(__filename, ['serve']);
  server.on('message', async (port) => {
    const turn = client(port);
    await turns(turn, seconds * WARM);
    console.log('begin');
    console.log(JSON.stringify(await turns(turn, seconds)));
    server.disconnect();
    process.exit(0);
  });
}

if (process.send && process.argv[2] === 'serve') serve();
else main();
