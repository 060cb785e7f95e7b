// SPDX-License-Identifier: MIT
// chains.js WORKLOAD SECONDS: one file operation after the other, each in libuv's pool of threads.
// An operation is one of them. The lines that are printed are those of meter.h.
'use strict';

const fs = require('fs').promises;
const process = require('process');

const WARM = 0.25;
const STRIDE = 16;
const WORKLOADS = {
  stat: () => fs.stat(__filename),
  readFile: () => fs.readFile(__filename),
};

function past(at) {
  return Number(process.hrtime.bigint() - at) * 1e-9;
}

async function measure(turn, seconds) {
  let at = process.hrtime.bigint();
  while (past(at) < seconds * WARM) await turn();
  console.log('begin');
  at = process.hrtime.bigint();
  let ops = 0;
  let taken = 0;
  do {
    for (let i = 0; i < STRIDE; i++) await turn();
    ops += STRIDE;
    taken = past(at);
  } while (taken < seconds);
  console.log(JSON.stringify({ ops, seconds: taken }));
}

const turn = WORKLOADS[process.argv[2]];
const seconds = Number(process.argv[3]);
if (!turn || !(seconds > 0 && seconds <= 3600) || process.argv.length !== 4) {
  console.error(`want one of ${Object.keys(WORKLOADS).join(', ')}; and SECONDS, up to 3600`);
  process.exit(2);
}
measure(turn, seconds);
