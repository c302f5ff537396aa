'use strict';

// An optional dependency whose `engines` end where Node's own SQLite begins: so its 29 MB are installed only where needed.
const { existsSync } = require('node:fs');
const { dirname, join } = require('node:path');

module.exports = loadBinding() ?? require('@photostructure/sqlite');

// The library itself, by the name it is shipped under. The package's own way looks through folders for it, and through
// code of which nothing is used here: a twentieth of the time in which a server starts.
function loadBinding() {
  const shipped = join(
    'prebuilds',
    `${process.platform}-${process.arch}`,
    `@photostructure+sqlite.${existsSync('/etc/alpine-release') ? 'musl' : 'glibc'}.node`,
  );
  const home = findPackage(__dirname);
  // A build for this machine goes before the one that is shipped.
  if (home === undefined || existsSync(join(home, 'build'))) return undefined;
  try {
    return require(join(home, shipped));
  } catch {
    return undefined;
  }
}

// As Node looks for it: in the nearest folder above that has it.
function findPackage(folder) {
  const home = join(folder, 'node_modules', '@photostructure', 'sqlite');
  if (existsSync(home)) return home;
  return dirname(folder) === folder ? undefined : findPackage(dirname(folder));
}
