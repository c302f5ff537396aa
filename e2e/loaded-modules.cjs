'use strict';

// Loaded before the program: writes down, when it ends, which modules of Node's it came to need.
const { writeFileSync } = require('node:fs');

const before = new Set(process.moduleLoadList);
process.once('exit', () => {
  const loaded = process.moduleLoadList.filter((name) => !before.has(name));
  writeFileSync(process.env.LOADED_MODULES_FILE, JSON.stringify(loaded));
});
