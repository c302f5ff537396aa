import { spawn } from 'node:child_process';
import type { Child, Executor, Launch } from './executor.js';
import { exitStatusOf } from './host.js';
import type { View } from './mount-plan.js';

/** A sandbox of macOS, ready for one child. */
export interface SeatbeltOptions {
  /** The system's sandbox-exec. */
  readonly program: string;
  readonly profile: string;
  readonly temporaryDirectory: string;
}

/** What a profile is written from. */
export interface SeatbeltFacts {
  readonly view: Pick<View, 'hidden' | 'shown' | 'writable' | 'readOnly' | 'denied' | 'frozen'>;
  /** A directory of the session alone. */
  readonly temporaryDirectory: string;
  readonly hasNetwork: boolean;
  readonly hasKeychain: boolean;
}

/** Runs children under a seatbelt profile. Unlike on Linux they share processes with the host and may outlive it. */
export function seatbeltExecutor(options: SeatbeltOptions): Executor {
  return { kind: 'seatbelt', start: (launch) => startInSeatbelt(launch, options) };
}

/** The profile: everything may be read and nothing written, but for what the facts say; later lines win. Pure. */
export function seatbeltProfile({
  view,
  temporaryDirectory,
  hasNetwork,
  hasKeychain,
}: SeatbeltFacts): string {
  const keychains = hasKeychain ? [] : ['(deny mach-lookup (global-name "com.apple.SecurityServer"))'];
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${devices.map(literal).join(' ')})`,
    ...(hasNetwork ? [] : ['(deny network*)']),
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target children))',
    ...keychains,
    ...view.hidden.map(({ path }) => `(deny file-read* file-write* ${subpath(path)})`),
    ...view.shown.map((path) => `(allow file-read* ${subpath(path)})`),
    ...view.hidden
      .filter(({ path }) => view.shown.some((shown) => path !== shown && path.startsWith(`${shown}/`)))
      .map(({ path }) => `(deny file-read* file-write* ${subpath(path)})`),
    ...[temporaryDirectory, ...view.writable].map(
      (path) => `(allow file-read* file-write* ${subpath(path)})`,
    ),
    ...view.readOnly.flatMap((path) => [
      `(allow file-read* ${subpath(path)})`,
      `(deny file-write* ${subpath(path)})`,
    ]),
    ...view.frozen.map((path) => `(deny file-write* ${subpath(path)})`),
    ...hiddenInside(view).map((path) => `(deny file-read* file-write* ${subpath(path)})`),
    ...view.denied.map(({ path }) => `(deny file-read* file-write* ${subpath(path)})`),
  ].join('\n');
}

const devices = ['/dev/null', '/dev/zero', '/dev/stdout', '/dev/stderr', '/dev/tty', '/dev/dtracehelper'];

/** Keys in a directory that may be written are hidden all the same, unless they were opened by name. */
function hiddenInside({ hidden, writable, readOnly }: SeatbeltFacts['view']): readonly string[] {
  return hidden
    .map(({ path }) => path)
    .filter((path) => writable.some((root) => path.startsWith(`${root}/`)) && !readOnly.includes(path));
}

function startInSeatbelt(launch: Launch, { program, profile, temporaryDirectory }: SeatbeltOptions): Child {
  const process = spawn(program, ['-p', profile, launch.program, ...launch.parameters], {
    cwd: launch.workingDirectory,
    detached: true,
    env: { ...launch.environment, PWD: launch.workingDirectory, TMPDIR: temporaryDirectory },
    stdio: [...launch.stdio],
  });
  return { pid: process.pid, process, ended: exitStatusOf(process) };
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function literal(path: string): string {
  return `(literal ${quoted(path)})`;
}

/** A string of the profile's language. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
