'use strict';

const fs = require('node:fs');
const { createRequire, enableCompileCache, wrap } = require('node:module');
const { tmpdir } = require('node:os');
const { basename, dirname, join } = require('node:path');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

const sumLength = 4;
const headerLength = sumLength + 4;
const settledAfterMs = 2000;
const noCache = { data: undefined, used: [] };

/**
 * Runs a CommonJS file with the compiled code kept from an earlier start, which saves compiling it again: by Node's own
 * cache where it has one, else by ours. No failure of the cache ever fails the start.
 */
exports.runCached = function runCached(file) {
  if (enableCompileCache === undefined) return runWithCodeCache(file);
  // Node's own default is a folder in a place that everybody may write to.
  const folder = cacheFolders(file).find(isUsable);
  if (folder !== undefined) enableCompileCache(join(folder.path, 'compile-cache'));
  require(file);
};

function isUsable(folder) {
  return attempt(() => {
    fs.mkdirSync(folder.path, { recursive: true, mode: 0o700 });
    fs.accessSync(folder.path, fs.constants.W_OK);
    return folder.isTrusted();
  });
}

/**
 * The cache for versions of Node that have none. V8 takes a damaged or foreign cache at its word and crashes, so a cache
 * is used only when its check sum over the source and the cached bytes is right.
 */
function runWithCodeCache(file) {
  const source = fs.readFileSync(file);
  const cache = attempt(() => readCache(file, source)) ?? noCache;
  // The bundler writes ASCII alone, and bytes that are read as what they are need no decoding.
  const script = new Script(wrap(source.latin1Slice()), { filename: file, cachedData: cache.data });
  const bundle = { exports: {} };
  keepCode({ file, source, script, bundle, cache: script.cachedDataRejected ? noCache : cache });
  script.runInThisContext()(bundle.exports, createRequire(file), bundle, file, dirname(file));
}

function readCache(file, source) {
  for (const folder of cacheFolders(file)) {
    const bytes = folder.isTrusted() ? attempt(() => fs.readFileSync(cachePath(folder, file))) : undefined;
    if (bytes === undefined || bytes.length <= headerLength) continue;
    const content = bytes.subarray(sumLength);
    if (bytes.readUInt32LE(0) !== checkSum(source, content)) continue;
    const start = headerLength + bytes.readUInt32LE(sumLength);
    return { data: bytes.subarray(start), used: JSON.parse(bytes.toString('utf8', headerLength, start)) };
  }
  return undefined;
}

// What the program exports as `used` names what it was used for. The cache has the code of all that it was ever used
// for, and is written again when something new came up: at the exit, or while a server runs that may never have one.
function keepCode({ file, source, script, bundle, cache }) {
  let kept = cache;
  const keep = () => {
    const used = [...new Set([...kept.used, ...(bundle.exports.used ?? [])])];
    if (kept.data !== undefined && used.length === kept.used.length) return;
    const data = script.createCachedData();
    writeCache({ file, source, data, used });
    kept = { data, used };
  };
  process.once('exit', () => attempt(keep));
  setTimeout(() => attempt(keep), settledAfterMs).unref();
}

function writeCache({ file, source, data, used }) {
  const names = Buffer.from(JSON.stringify(used));
  const bytes = Buffer.concat([Buffer.alloc(headerLength), names, data]);
  bytes.writeUInt32LE(names.length, sumLength);
  bytes.writeUInt32LE(checkSum(source, bytes.subarray(sumLength)), 0);
  cacheFolders(file).some((folder) => writeWhole({ folder, file, bytes }));
}

// Who can write beside the bundle can change the bundle itself; any other folder must be the user's alone.
function cacheFolders(file) {
  const user = process.getuid ? process.getuid() : 'user';
  const ownFolder = join(tmpdir(), `groundcrew-code-${user}`);
  return [
    { path: dirname(file), isTrusted: () => true },
    { path: ownFolder, isTrusted: () => isPrivate(ownFolder) },
  ];
}

function cachePath(folder, file) {
  return join(folder.path, `${basename(file, '.cjs')}.${process.version}-${process.arch}.code`);
}

function isPrivate(folder) {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return false;
  return !process.getuid || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0);
}

function writeWhole({ folder, file, bytes }) {
  const path = cachePath(folder, file);
  const temporary = `${path}.${process.pid}`;
  const isWritten = attempt(() => {
    fs.mkdirSync(folder.path, { recursive: true, mode: 0o700 });
    if (!folder.isTrusted()) return false;
    fs.writeFileSync(temporary, bytes, { mode: 0o600, flag: 'wx' });
    fs.renameSync(temporary, path);
    return true;
  });
  if (!isWritten) attempt(() => fs.rmSync(temporary, { force: true }));
  return isWritten;
}

// Against damage alone: a user who could write a false one could change the program itself.
function checkSum(source, content) {
  return crc32(content, crc32(source, crc32(process.version)));
}

function attempt(action) {
  try {
    return action();
  } catch {
    return undefined;
  }
}
