import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 20;
const longestBuildMs = 60_000;
const ownName = String(process.pid);

/**
 * Waits until no other living process builds, then holds the lock until the returned function is called.
 * The lock only saves work: bundles are put in place atomically, so that two builders at once do no harm.
 */
export async function takeBuildLock(path, say) {
  let announced = false;
  while (!tryLock(path)) {
    const holder = holderOf(path);
    if (holder === undefined) continue;
    if (isStale(path, holder)) {
      breakLock(path, holder);
      continue;
    }
    if (!announced) say(`waiting for process ${holder}, which builds the program`);
    announced = true;
    await delay(pollMs);
  }
  return () => {
    if (holderOf(path) === ownName) rmSync(path, { force: true });
  };
}

// A link appears with its content or not at all, so no process ever reads a lock without a holder.
function tryLock(path) {
  const claim = `${path}.${process.pid}`;
  writeFileSync(claim, ownName);
  try {
    linkSync(claim, path);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(claim, { force: true });
  }
}

function holderOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

function isStale(path, holder) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return false;
  return !isAlive(holder) || Date.now() - stat.mtimeMs > longestBuildMs;
}

function isAlive(processId) {
  try {
    process.kill(Number(processId), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

// Another waiter may have broken this lock already and taken its own: that one is put back.
function breakLock(path, holder) {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
    if (holderOf(aside) !== holder) linkSync(aside, path);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
