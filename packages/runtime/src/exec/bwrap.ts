import { type ChildProcess, spawn } from 'node:child_process';
import { type BigIntStats, closeSync, openSync, readlinkSync, statSync } from 'node:fs';
import { kill } from 'node:process';
import type { Duplex } from 'node:stream';
import { type BwrapAbilities, bwrapArguments } from './bwrap-arguments.js';
import { covering, namelessFile } from './descriptors.js';
import type { Child, Executor, ExitStatus, Launch } from './executor.js';
import { exitStatusOf } from './host.js';
import { type Mount, rootsOf } from './mount-plan.js';
import { systemCallFilter } from './system-calls.js';

/** A sandbox of Linux, ready for one child. */
export interface BwrapOptions {
  /** The system's bubblewrap. */
  readonly program: string;
  readonly abilities: BwrapAbilities;
  /** Descriptors that the runtime was started with; a child has none of them. */
  readonly inherited: readonly number[];
  readonly mounts: readonly Mount[];
  readonly hasNetwork: boolean;
}

/** Runs children in namespaces of their own, by bubblewrap: they see what the mounts show, and end with their parent. */
export function bwrapExecutor(options: BwrapOptions): Executor {
  return { kind: 'bwrap', start: (launch) => startInBwrap(launch, options) };
}

function startInBwrap(launch: Launch, options: BwrapOptions): Child {
  const { program, mounts, abilities, hasNetwork } = options;
  const { workingDirectory } = launch;
  const roots = rootsOf(mounts).map((path) => ({ path, stats: statOf(path) }));
  const environment = environmentIn(launch);
  const parameters = bwrapArguments({ mounts, workingDirectory, environment, hasNetwork, abilities });
  const filter = abilities.filtersCalls ? systemCallFilter(hasNetwork) : undefined;
  const words = namelessFile(`${parameters.join('\0')}\0`);
  const cover = openSync('/dev/null', 'r');
  const streams = [...launch.stdio, words, 'pipe', 'pipe'] as const;
  try {
    const process = spawn(
      program,
      [...(filter ? filteredWords : openWords), '--', launch.program, ...launch.parameters],
      {
        cwd: '/',
        ...(launch.title !== undefined && { argv0: launch.title }),
        detached: true,
        env: {},
        stdio: covering(streams, { inherited: options.inherited, cover }),
      },
    );
    return {
      pid: process.pid,
      process,
      ended: watch(process, { roots, permit: filter ?? '.', onEntry: launch.onEntry }),
    };
  } finally {
    for (const file of [words, cover]) closeSync(file);
  }
}

/**
 * The child waits for its filter of system calls. When the runtime ends before it has sent one, what the child gets is no
 * filter, and it ends without having run anything.
 */
const filteredWords: readonly string[] = ['--args', '3', '--seccomp', '4', '--json-status-fd', '5'];

/** Without a filter the child waits for a byte, and goes on without one when the runtime ends. */
const openWords: readonly string[] = ['--args', '3', '--block-fd', '4', '--json-status-fd', '5'];

interface Root {
  readonly path: string;
  readonly stats: BigIntStats | undefined;
}

/** When the child may go on, and what it is told then. */
interface Release {
  readonly roots: readonly Root[];
  readonly permit: Buffer | string;
  readonly onEntry: Launch['onEntry'];
}

/** Releases the child when its view of the disk is right; tells a sandbox that failed from a program that failed. */
async function watch(process: ChildProcess, release: Release): Promise<ExitStatus> {
  // The types of Node know of five streams at most; pipes of children are duplex streams.
  const [, , , , gate, status] = process.stdio as readonly unknown[] as readonly (Duplex | undefined)[];
  const exited = exitStatusOf(process);
  if (process.pid === undefined || !gate || !status) return exited;
  const closed = new Promise<void>((resolve) => status.once('close', () => resolve()));
  // The child may be gone before it is released.
  gate.on('error', () => gate.destroy());
  status.on('error', () => status.destroy());
  let text = '';
  let checking: Promise<string | undefined> | undefined;
  status.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    const pid = /"child-pid": (\d+)/.exec(text)?.[1];
    if (pid === undefined || checking !== undefined) return;
    release.onEntry?.(Number(pid));
    checking = letRun({ ...release, process, root: `/proc/${pid}/root`, gate });
  });
  const exit = await exited;
  endOthers(text);
  await closed;
  gate.destroy();
  const changed = await checking;
  if (changed !== undefined)
    return failed(`${changed} was changed while the sandbox was set up; nothing was run`);
  const isSetUp = text.includes('"exit-code"') || (exit.type === 'exited' && exit.signal !== undefined);
  return isSetUp ? exit : failed('The sandbox could not be set up');
}

/** Opens the gate once everything is mounted as it was looked up; else ends the child, and says what has changed. */
async function letRun(
  waiting: Release & {
    readonly process: ChildProcess;
    /** The child's view. */
    readonly root: string;
    readonly gate: Duplex;
  },
): Promise<string | undefined> {
  const { process, root, roots, gate, permit } = waiting;
  const host = statOf('/proc');
  // The child has processes of its own as soon as its view is complete; then it waits at the gate.
  for (let shown = statOf(`${root}/proc`); ; shown = statOf(`${root}/proc`)) {
    if (process.exitCode !== null || process.signalCode !== null) return undefined;
    if (shown !== undefined && shown.dev !== host?.dev) break;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const changed = roots.find((each) => !isSame(each, root));
  if (changed === undefined) gate.end(permit);
  else process.kill('SIGKILL');
  return changed?.path;
}

/** The kernel ends a sandbox with its outer process; whatever has kept the first one within alive, it ends here. */
function endOthers(status: string): void {
  const pid = /"child-pid": (\d+)/.exec(status)?.[1];
  const namespace = /"pid-namespace": (\d+)/.exec(status)?.[1];
  if (pid === undefined || namespace === undefined) return;
  try {
    if (readlinkSync(`/proc/${pid}/ns/pid`) === `pid:[${namespace}]`) kill(Number(pid), 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

function failed(message: string): ExitStatus {
  return { type: 'failed', error: new Error(message) };
}

/** The directory that was looked up is the one that is mounted: no link was put in its place meanwhile. */
function isSame({ path, stats }: Root, root: string): boolean {
  const mounted = statOf(root + path);
  return (
    stats !== undefined && mounted !== undefined && mounted.ino === stats.ino && mounted.dev === stats.dev
  );
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    // Absent: it equals no other file.
    return undefined;
  }
}

/** Temporary files and caches are the sandbox's own, and sockets of the host's programs are not there. */
function environmentIn({ environment, workingDirectory }: Launch): Readonly<Record<string, string>> {
  const kept = Object.entries(environment).filter(([name]) => !ofHost.has(name));
  return { ...Object.fromEntries(kept), ...ofSandbox, PWD: workingDirectory };
}

const ofSandbox = { TMPDIR: '/tmp', XDG_CACHE_HOME: '/tmp/.cache', npm_config_cache: '/tmp/.npm' };

const ofHost: ReadonlySet<string> = new Set([
  'DBUS_SESSION_BUS_ADDRESS',
  'DBUS_SYSTEM_BUS_ADDRESS',
  'GPG_AGENT_INFO',
  'SSH_AGENT_PID',
  'SSH_AUTH_SOCK',
  'TEMP',
  'TMP',
  'XDG_RUNTIME_DIR',
]);
