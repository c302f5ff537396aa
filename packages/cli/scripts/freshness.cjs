'use strict';

const { readFileSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const repository = join(__dirname, '..', '..', '..');
const stampName = 'inputs.json';

exports.repository = repository;
exports.stampName = stampName;

/** Whether a bundle is made of the sources as they are now: one stat per source, and no folder is listed. */
exports.isFresh = function isFresh(outputFolder) {
  const inputs = readStamp(outputFolder);
  if (inputs === undefined) return false;
  for (const [path, modified, size] of inputs) {
    const stat = statOf(path);
    if (stat.mtimeMs !== modified || stat.size !== size) return false;
  }
  return true;
};

/** Writes down what a bundle was made of. A source touched since the build began counts as changed. */
exports.writeStamp = function writeStamp({ folder, inputs, buildStarted }) {
  const now = Date.now();
  const rows = inputs.map((path) => {
    const { mtimeMs, size } = statOf(path);
    const touched = mtimeMs >= buildStarted && mtimeMs <= now;
    return [path, touched ? 'changed' : mtimeMs, size];
  });
  writeFileSync(join(folder, stampName), JSON.stringify(rows));
};

const missing = { mtimeMs: 0, size: -1 };

// Joined by hand: this runs for every source at every start.
function statOf(path) {
  return statSync(`${repository}/${path}`, { throwIfNoEntry: false }) ?? missing;
}

function readStamp(outputFolder) {
  try {
    return JSON.parse(readFileSync(join(outputFolder, stampName), 'utf8'));
  } catch {
    return undefined;
  }
}
