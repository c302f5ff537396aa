'use strict';

const { join } = require('node:path');
const { isFresh } = require('./freshness.cjs');

/** In a source checkout the program is built when it is started, if it is missing or older than its sources. */
exports.ensureBuilt = function ensureBuilt() {
  if (!isFresh(join(__dirname, '..', 'dist'))) build();
};

// A process of its own leaves no bundler behind in a long-lived server. Standard output belongs
// to the protocol: whatever the build says goes to standard error.
function build() {
  const { spawnSync } = require('node:child_process');
  const script = join(__dirname, 'build.mjs');
  const { status } = spawnSync(process.execPath, [script, '--if-stale'], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}
