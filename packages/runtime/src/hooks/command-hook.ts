import { parseReceived } from '@groundcrew/models';
import type { HookType } from '@groundcrew/protocol';
import type { Confinement } from '../exec/sandbox-confinement.js';
import type { JobRunner } from '../exec/workers.js';
import type { ProgramHost, StartedProgram } from '../tools/shell/program.js';
import type { CommandHook } from './hook-files.js';
import type { HookSource } from './hooks.js';

/** What a command may write; more is a failure. */
const mostOutput = 1024 * 1024;
/** What is kept of its errors, to say why. */
const keptErrors = 4096;
/** The exit code by which a command forbids what it was asked about. */
const denies = 2;

/** A command of a hooks file: it reads the input as JSON, writes its output as JSON, and is ended with all it started. */
export function commandHook(
  hook: CommandHook,
  parts: {
    readonly programs: ProgramHost;
    readonly jobs: JobRunner;
    confinement(): Promise<Confinement | undefined>;
  },
): HookSource {
  const { hookType, timeoutMs, onFailure, matcher, origin } = hook;
  return {
    name: origin,
    types: [hookType],
    timeoutMs,
    onFailure,
    invoke: async (_point, input, signal) => {
      if (matcher && !(await isMeant(matcher, toolNameIn(input), { jobs: parts.jobs, signal })))
        return undefined;
      const owner = {};
      const confinement = await parts.confinement();
      signal.throwIfAborted();
      const program = await parts.programs.startProgram(wanted(hook, confinement), owner);
      try {
        return outputOf(hookType, await ran(program, input, signal));
      } finally {
        await program.end();
      }
    },
  };
}

/** No tool has a name this long: what a model makes up is put to the hook, not to its pattern. */
const longestName = 256;

async function isMeant(
  matcher: RegExp,
  toolName: string,
  { jobs, signal }: { readonly jobs: JobRunner; readonly signal: AbortSignal },
): Promise<boolean> {
  if (toolName.length > longestName) return true;
  if (isQuick(matcher)) return matcher.test(toolName);
  const fit = { value: toolName, schema: { pattern: matcher.source } };
  return (await jobs.run('fit', fit, { milliseconds: matchMs }, signal)).misfit === undefined;
}

/** Names and alternatives of them, with few wildcards. What else a pattern says may take for ever: other processes try it. */
function isQuick({ source }: RegExp): boolean {
  const plain = source.replace('(?:', '(');
  const repeats = plain.match(/[*+?{]/g) ?? [];
  return repeats.length <= mostRepeats && !/\)[*+?{]|\\[1-9k]|\(\?/.test(plain);
}

const mostRepeats = 3;
const matchMs = 2000;

function toolNameIn(input: unknown): string {
  const { toolName } = input as { readonly toolName?: unknown };
  return typeof toolName === 'string' ? toolName : '';
}

function wanted({ command, workingDirectory, environment }: CommandHook, confinement?: Confinement) {
  const [program, ...parameters] =
    process.platform === 'win32'
      ? ['powershell', '-NoProfile', '-Command', command]
      : ['bash', '-c', command];
  return { program, parameters, workingDirectory, environment, expandsVariables: true, confinement };
}

/** How a command ended, and what it wrote. */
interface Ran {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

function ran({ child }: StartedProgram, input: unknown, signal: AbortSignal): Promise<Ran> {
  const { stdin, stdout, stderr } = child.process;
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let errors = '';
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    stdout?.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size > mostOutput) reject(new Error(`it wrote more than ${mostOutput} bytes`));
      else pieces.push(piece);
    });
    stderr?.on('data', (piece: Buffer) => {
      errors = (errors + piece.toString('utf8')).slice(-keptErrors);
    });
    // A command need not read its input; how it ends says all there is to know.
    stdin?.on('error', () => undefined);
    stdin?.end(JSON.stringify(input));
    const closed = new Promise((done) => child.process.once('close', done));
    void child.ended.then(async (ending) => {
      if (ending.type === 'failed') return reject(ending.error);
      // What it wrote before its end may still be on its way; a child of its own may keep the pipes open.
      await Promise.race([closed, new Promise((done) => setTimeout(done, 200))]);
      if (ending.signal) return reject(new Error(`it was ended by ${ending.signal}`));
      const output = Buffer.concat(pieces).toString('utf8').trim();
      resolve({ exitCode: ending.exitCode, output, errors: errors.trim() });
    });
  });
}

/** What a command says: JSON, nothing, or by its exit code that it forbids. Anything else is a failure. */
function outputOf(hookType: HookType, { exitCode, output, errors }: Ran): unknown {
  if (exitCode === denies) return denialOf(hookType, errors || output);
  if (exitCode !== 0) throw new Error(`it ended with exit code ${exitCode}${errors && `: ${errors}`}`);
  if (output === '') return undefined;
  try {
    return parseReceived(output);
  } catch (error) {
    throw error instanceof SyntaxError ? new Error('it wrote something else than JSON') : error;
  }
}

function denialOf(hookType: HookType, reason: string): unknown {
  const why = reason === '' ? {} : { reason };
  if (hookType === 'agentStop') return { decision: 'block', ...why };
  if (hookType !== 'preToolUse' && hookType !== 'preMcpToolCall')
    throw new Error(reason || `it ended with exit code ${denies}`);
  return {
    permissionDecision: 'deny',
    ...(reason !== '' && { permissionDecisionReason: reason }),
  };
}
