'use strict';

/**
 * Loads the user interface of the terminal, which has a file of its own: only users who look at it wait for it. The program itself is run
 * from a code cache, where a true `import()` has no loader.
 */
exports.loadTerminal = function loadTerminal() {
  return import('../dist/terminal.mjs');
};
