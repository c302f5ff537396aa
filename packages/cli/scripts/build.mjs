#!/usr/bin/env node
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { browserOptions } from '../../../scripts/browser-options.mjs';
import { takeBuildLock } from './build-lock.mjs';
import { isFresh, repository, stampName, writeStamp } from './freshness.cjs';
import { lazyBuiltins } from './lazy-builtins.mjs';
import { librariesApart, libraryEntries } from './libraries.mjs';
import { standIns } from './stand-ins.mjs';

const cliFolder = join(import.meta.dirname, '..');
const temporaryPrefix = '.build-';

/** What is loaded from node_modules at run time because it is native or rarely needed. */
const external = ['@groundcrew/sqlite-node20', '@vscode/ripgrep', 'undici', 'pg-native'];

/** What the bundle depends on besides our own sources; the lock file stands for all of node_modules. */
const hiddenInputs = [
  'package-lock.json',
  'tsconfig.json',
  'packages/cli/package.json',
  'packages/cli/scripts/build.mjs',
  'packages/cli/scripts/lazy-builtins.mjs',
  'packages/cli/scripts/libraries.mjs',
  'packages/cli/scripts/stand-ins.mjs',
  'scripts/browser-options.mjs',
];

const { values: flags } = parseArgs({
  options: {
    failpoints: { type: 'boolean', default: false },
    'if-stale': { type: 'boolean', default: false },
    sourcemap: { type: 'boolean', default: false },
  },
});

try {
  await main();
} catch (error) {
  say(error.errors ? 'the program could not be built' : error.message);
  process.exitCode = 1;
}

async function main() {
  const outputFolder = join(cliFolder, flags.failpoints ? 'dist-failpoints' : 'dist');
  mkdirSync(outputFolder, { recursive: true });
  const unlock = await takeBuildLock(join(outputFolder, '.lock'), say);
  try {
    if (flags['if-stale'] && isFresh(outputFolder)) return;
    await buildInto(outputFolder);
  } finally {
    unlock();
  }
}

async function buildInto(outputFolder) {
  const { build } = await loadEsbuild();
  removeLeftovers(outputFolder);
  const temporary = mkdtempSync(join(outputFolder, temporaryPrefix));
  const began = Date.now();
  try {
    const options = bundleOptions(temporary);
    const results = await allEnded([
      build(options),
      build(libraryOptions(options)),
      ...(flags.failpoints
        ? []
        : [build(terminalOptions(options)), build(agentOptions(options)), build(pageOptions(options))]),
    ]);
    writeInAscii(temporary);
    const all = new Set(results.flatMap(({ metafile }) => Object.keys(metafile.inputs)));
    const sources = [...all].filter((path) => path.startsWith('packages/'));
    const inputs = [...sources, ...hiddenInputs];
    writeStamp({ folder: temporary, inputs, buildStarted: began });
    putInPlace(temporary, outputFolder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  say(`built ${basename(outputFolder)}/main.cjs in ${Date.now() - began} ms`);
}

/**
 * The bundler leaves regular expressions as they were written, and the program is read as ASCII where it runs from the code cache:
 * `“` would be three other characters there.
 */
function writeInAscii(folder) {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.cjs'))) {
    const path = join(folder, name);
    const code = readFileSync(path, 'utf8');
    const ascii = code.replace(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    if (ascii !== code) writeFileSync(path, ascii);
  }
}

/** Waits for all even when one fails: another still at work would write into the folder after its removal. */
async function allEnded(builds) {
  await Promise.allSettled(builds);
  return Promise.all(builds);
}

// One file each, with all of our own code: what is behind an `import()` is evaluated when it is first asked for, and a
// running program never has to find a part of itself on a disk where a newer build has been put meanwhile.
function bundleOptions(outdir) {
  const { version } = JSON.parse(readFileSync(join(cliFolder, 'package.json'), 'utf8'));
  return {
    absWorkingDir: repository,
    entryPoints: entryPoints(),
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    external,
    plugins: [librariesApart, lazyBuiltins],
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    tsconfig: 'tsconfig.json',
    // As `require`: in code run from the code cache a true `import()` has no loader, and it is slower.
    supported: { 'dynamic-import': false },
    define: {
      __FAILPOINTS__: String(flags.failpoints),
      __WORKER__: JSON.stringify('worker.cjs'),
      __VERSION__: JSON.stringify(version),
      // The WebSocket library looks for native helpers in any node_modules around the program: ours has none.
      'process.env.WS_NO_BUFFER_UTIL': '"1"',
      'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
      'import.meta.dirname': '__dirname',
      'import.meta.filename': '__filename',
    },
    logOverride: { 'empty-import-meta': 'error' },
    charset: 'ascii',
    minify: true,
    legalComments: 'none',
    sourcemap: flags.sourcemap ? 'external' : false,
    metafile: true,
    logLevel: 'warning',
  };
}

function libraryOptions(options) {
  return { ...options, entryPoints: libraryEntries, plugins: [lazyBuiltins] };
}

// The user interface of the terminal, which no runtime needs: a module, because its layout engine is one that waits while it loads.
function terminalOptions({ supported: _, define, ...options }) {
  return {
    ...options,
    entryPoints: [{ in: 'packages/terminal/src/index.ts', out: 'terminal' }],
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    define: { ...define, 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' },
    plugins: [standIns],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  };
}

// What speaks with editors, which no runtime needs.
function agentOptions({ supported: _, plugins: __, ...options }) {
  return {
    ...options,
    entryPoints: [{ in: 'packages/acp-agent/src/index.ts', out: 'acp-agent' }],
    outExtension: { '.js': '.mjs' },
    format: 'esm',
  };
}

// The page that shows sessions: for browsers, with the SDK for them.
function pageOptions({ outdir, metafile, logLevel }) {
  return {
    absWorkingDir: repository,
    ...browserOptions,
    entryPoints: undefined,
    stdin: {
      contents: `import 'uplot/dist/uPlot.min.css'; import './packages/inspector/src/style.css';
        import { start } from './packages/inspector/src/index.ts'; void start(document.getElementById('app'));`,
      resolveDir: repository,
    },
    outfile: join(outdir, 'inspector.js'),
    jsx: 'automatic',
    jsxImportSource: 'preact',
    metafile,
    logLevel,
  };
}

// What clients start, what users start, and the runtime alone for apps that run it in their own process.
// Worker processes load the last.
function entryPoints() {
  const names = flags.failpoints ? ['main'] : ['main', 'cli', 'in-process'];
  const programs = names.map((name) => ({ in: `packages/cli/src/${name}.ts`, out: name }));
  return [...programs, { in: 'packages/cli/src/worker-main.ts', out: 'worker' }];
}

async function loadEsbuild() {
  try {
    return await import('esbuild');
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `cannot build the program, because esbuild is not installed: run \`npm ci\` in ${repository}`,
    );
  }
}

// The stamp comes last: a bundle without its stamp is built again.
function putInPlace(temporary, outputFolder) {
  const names = readdirSync(temporary).filter((name) => name !== stampName);
  for (const name of [...names, stampName]) renameSync(join(temporary, name), join(outputFolder, name));
}

function removeLeftovers(outputFolder) {
  for (const name of readdirSync(outputFolder)) {
    if (name.startsWith(temporaryPrefix)) rmSync(join(outputFolder, name), { recursive: true, force: true });
  }
}

function say(message) {
  process.stderr.write(`groundcrew: ${message}\n`);
}
