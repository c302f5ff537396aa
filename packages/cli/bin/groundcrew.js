#!/usr/bin/env node
'use strict';

// CommonJS, and readable for any Node, so that an old one gets a sentence instead of a syntax error.
const version = process.version.slice(1).split('.').map(Number);
const [major, minor] = version;

if (!((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22)) {
  process.stderr.write(
    `groundcrew needs Node 20.19 or later, or 22.12 or later; this is Node ${process.version}\n`,
  );
  process.exit(1);
}

const [first, ...others] = process.argv.slice(2);

if ((first === '--version' || first === '-v') && others.length === 0)
  process.stdout.write(`${require('../package.json').version}\n`);
else start();

function start() {
  const { existsSync } = require('node:fs');
  const { join } = require('node:path');
  const cliFolder = join(__dirname, '..');
  const isSourceCheckout = existsSync(join(cliFolder, 'src'));
  if (isSourceCheckout) require('../scripts/ensure-built.cjs').ensureBuilt();

  // Clients wait for the program to start: theirs is a bundle without the commands of users.
  const asksForHelp = first === 'help' || process.argv.includes('--help') || process.argv.includes('-h');
  const isHeadless = process.argv.includes('--headless') || process.argv.includes('--server');
  const bundle = join(cliFolder, 'dist', isHeadless && !asksForHelp ? 'main.cjs' : 'cli.cjs');
  require('./code-cache.js').runCached(bundle);
}
