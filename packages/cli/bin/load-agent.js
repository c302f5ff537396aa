'use strict';

/**
 * Loads what speaks with editors, which has a file of its own: only editors wait for it. The program itself is run from a
 * code cache, where a true `import()` has no loader.
 */
exports.loadAgent = function loadAgent() {
  return import('../dist/acp-agent.mjs');
};
