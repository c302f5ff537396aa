'use strict';

// Loaded before the program: writes down, when it ends, which modules of Node's and which libraries it came to need.
const { writeFileSync } = require('node:fs');
const { basename } = require('node:path');

const before = new Set(process.moduleLoadList);
process.once('exit', () => {
  const modules = process.moduleLoadList.filter((name) => !before.has(name));
  const libraries = Object.keys(require.cache)
    .map((path) => basename(path))
    .filter((name) => name.startsWith('library-'));
  writeFileSync(process.env.LOADED_MODULES_FILE, JSON.stringify({ modules, libraries }));
});
