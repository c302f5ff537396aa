import { bwrapExecutor } from './bwrap.js';
import type { BwrapAbilities } from './bwrap-arguments.js';
import { inheritedDescriptors } from './descriptors.js';
import { findExecutable, isExecutable } from './executable.js';
import type { Child, ExecutorKind, Launch } from './executor.js';
import { startOnHost } from './host.js';
import { systemCallFilter } from './system-calls.js';

/** A sandbox that works here. */
export type WorkingSandbox =
  | {
      readonly kind: 'bwrap';
      readonly program: string;
      readonly abilities: BwrapAbilities;
      readonly inherited: readonly number[];
    }
  | { readonly kind: 'seatbelt'; readonly program: string };

/** Whether the sandbox of this system works, or what is missing. */
export type Probe =
  | { readonly type: 'works'; readonly sandbox: WorkingSandbox }
  /** A sentence that says what to do. */
  | { readonly type: 'missing'; readonly reason: string };

/** The variables that a probe goes by. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The one sandbox that a system has. */
function sandboxOf(platform: NodeJS.Platform): Exclude<ExecutorKind, 'host'> | undefined {
  if (platform === 'linux') return 'bwrap';
  return platform === 'darwin' ? 'seatbelt' : undefined;
}

/** Tries this system's sandbox with a program that does nothing. */
export async function probeSandbox(environment: Environment): Promise<Probe> {
  const kind = sandboxOf(process.platform);
  if (kind === 'bwrap') return probeBwrap(environment);
  if (kind === 'seatbelt') return probeSeatbelt();
  return { type: 'missing', reason: `There is no sandbox for ${process.platform}: it needs Linux or macOS` };
}

async function probeBwrap({ GROUNDCREW_BWRAP }: Environment): Promise<Probe> {
  const program = GROUNDCREW_BWRAP || findExecutable('bwrap', systemPlaces);
  if (program === undefined || !isExecutable(program))
    return { type: 'missing', reason: notInstalled(program) };
  const inherited = inheritedDescriptors();
  let complaint = '';
  for (const abilities of candidates()) {
    const mounts = [{ type: 'read-only' as const, path: '/' }];
    const result = await trial((launch) =>
      bwrapExecutor({ program, abilities, inherited, mounts, hasNetwork: true }).start(launch),
    );
    if (result === undefined)
      return { type: 'works', sandbox: { kind: 'bwrap', program, abilities, inherited } };
    complaint ||= result;
  }
  return {
    type: 'missing',
    reason: `bubblewrap (${program}) cannot make a sandbox here: ${complaint}. Let this user make user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns); in a container they need its permission too`,
  };
}

/** Only where the system keeps its programs: a directory that a command can write to must not provide the sandbox. */
const systemPlaces: readonly string[] = [
  '/usr/bin',
  '/usr/local/bin',
  '/bin',
  '/run/wrappers/bin',
  '/run/current-system/sw/bin',
];

function notInstalled(program: string | undefined): string {
  const where = program === undefined ? '' : ` (${program}, which GROUNDCREW_BWRAP names, is not there)`;
  return `bubblewrap is not installed${where}: apt-get install bubblewrap, dnf install bubblewrap or apk add bubblewrap`;
}

/** The best first. */
function candidates(): readonly BwrapAbilities[] {
  const namespaces = [
    { userNamespace: true, bansUserNamespaces: true },
    { userNamespace: true, bansUserNamespaces: false },
    ...(process.getuid?.() === 0 ? [{ userNamespace: false, bansUserNamespaces: false }] : []),
  ];
  const isKnown = systemCallFilter(true) !== undefined;
  return [...(isKnown ? [true] : []), false].flatMap((filtersCalls) =>
    namespaces.map((abilities) => ({ ...abilities, filtersCalls })),
  );
}

async function probeSeatbelt(): Promise<Probe> {
  const program = '/usr/bin/sandbox-exec';
  if (!isExecutable(program))
    return { type: 'missing', reason: `${program} is not there: this macOS has no seatbelt` };
  const parameters = ['-p', '(version 1)(allow default)', '/bin/sh', '-c', ':'];
  const complaint = await trial((launch) => startOnHost({ ...launch, program, parameters }));
  if (complaint === undefined) return { type: 'works', sandbox: { kind: 'seatbelt', program } };
  return { type: 'missing', reason: `${program} does not work here: ${complaint}` };
}

/** Undefined when the child ran to its end; else what was complained of. */
async function trial(start: (launch: Launch) => Child): Promise<string | undefined> {
  const child = start({
    program: '/bin/sh',
    parameters: ['-c', ':'],
    workingDirectory: '/',
    environment: {},
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const timer = setTimeout(() => child.process.kill('SIGKILL'), longestTrial);
  let output = '';
  child.process.stderr?.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(0, longestComplaint);
  });
  const exit = await child.ended;
  clearTimeout(timer);
  if (exit.type === 'exited' && exit.exitCode === 0) return undefined;
  const reason = exit.type === 'failed' ? exit.error.message : `it ended with ${exit.exitCode}`;
  return output.trim().replace(/^bwrap: /, '') || reason;
}

const longestTrial = 10_000;
const longestComplaint = 500;
