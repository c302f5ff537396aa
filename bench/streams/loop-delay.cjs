'use strict';

// Loaded into the runtime before it starts: at SIGUSR2 its event loop is watched for some seconds, and what was seen is
// written to a file.
const { renameSync, writeFileSync } = require('node:fs');
const { monitorEventLoopDelay } = require('node:perf_hooks');

const { LOOP_DELAY_FILE: file, LOOP_DELAY_SECONDS: seconds } = process.env;

process.on('SIGUSR2', () => {
  const delay = monitorEventLoopDelay();
  const before = process.cpuUsage();
  delay.enable();
  setTimeout(() => {
    delay.disable();
    const { user, system } = process.cpuUsage(before);
    const [p50, p99] = [50, 99].map((percent) => delay.percentile(percent) / 1e6);
    const share = (user + system) / 1e6 / Number(seconds);
    writeFileSync(`${file}.new`, JSON.stringify({ p50, p99, max: delay.max / 1e6, share, ...live() }));
    renameSync(`${file}.new`, file);
  }, Number(seconds) * 1000);
});

/** Megabytes that are in use, where the collector can be asked to look: what is only kept for later does not count. */
function live() {
  if (!global.gc) return {};
  global.gc();
  const { heapUsed, external } = process.memoryUsage();
  return { live: (heapUsed + external) / 1024 / 1024 };
}
