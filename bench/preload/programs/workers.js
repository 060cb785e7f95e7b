// SPDX-License-Identifier: MIT
// workers.js WORKLOAD SECONDS: a message to a worker thread and back, one at a time. Node wakes a
// thread's loop through an eventfd. An operation is a round trip. The lines that are printed are
// those of meter.h.
'use strict';

const process = require('process');
const { Worker, isMainThread, parentPort } = require('worker_threads');

const WARM = 0.25;
const STRIDE = 16;
const LAST = -1;

function past(at) {
  return Number(process.hrtime.bigint() - at) * 1e-9;
}

function measure(worker, seconds) {
  let at = process.hrtime.bigint();
  let begun = false;
  let ops = 0;

  function end(taken) {
    console.log(JSON.stringify({ ops, seconds: taken }));
    worker.postMessage(LAST);
  }

  worker.on('message', () => {
    ops += 1;
    const taken = ops % STRIDE ? 0 : past(at);
    if (begun && taken >= seconds) return end(taken);
    if (!begun && taken >= seconds * WARM) {
      console.log('begin');
      begun = true;
      ops = 0;
      at = process.hrtime.bigint();
    }
    return worker.postMessage(ops);
  });
  worker.postMessage(0);
}

function answer() {
  parentPort.on('message', (word) => {
    if (word === LAST) parentPort.close();
    else parentPort.postMessage(word);
  });
}

function main() {
  const seconds = Number(process.argv[3]);
  if (process.argv[2] !== 'message' || !(seconds > 0 && seconds <= 3600)
      || process.argv.length !== 4) {
    console.error('want message; and SECONDS, up to 3600');
    process.exit(2);
  }
  measure(new Worker(__filename), seconds);
}

if (isMainThread) main();
else answer();
