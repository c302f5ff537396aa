import { realpath } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { expandBraces } from '../workspace/glob-pattern.js';
import { locate, type Place } from '../workspace/paths.js';
import type { ReadCommand } from './commands.js';
import { isWild, matchedNames } from './matched-names.js';
import type { PermissionQuestion, PermissionRequest } from './question.js';

/** A path that a call would touch. */
export interface TouchedPath {
  /** As the request says it. */
  readonly written: string;
  /** Whole, as named and with every link followed; none where only a run would tell. */
  readonly names: readonly string[];
}

/** A call as rules see it: what it asks leave for, by what tool, and where that really leads. */
export interface Subject {
  /** Absent when the use of the tool is all there is. */
  readonly request?: PermissionRequest;
  readonly prompt?: PermissionQuestion['prompt'];
  readonly toolName?: string;
  readonly workingDirectory: string;
  readonly paths: readonly TouchedPath[];
  /** Of a shell request: all that would run. */
  readonly commands: readonly ReadCommand[];
  /** Some of what would run cannot be told from the text. */
  readonly hidesCommands: boolean;
}

/** Where and by what tool a question comes up. */
export interface Occasion {
  readonly toolName?: string;
  readonly workingDirectory: string;
}

/** Looks up what a question is about. The file system is asked here, so that the policy need not. */
export async function examine(question: PermissionQuestion, occasion: Occasion): Promise<Subject> {
  const { request, prompt, real = [] } = question;
  const { workingDirectory } = occasion;
  const reading = request.kind === 'shell' ? await readShell(request.fullCommandText) : unread;
  const bases = basesOf(reading.commands, workingDirectory);
  const paths = await Promise.all(
    [...new Set([...pathsOf(question), ...bareWords(reading.commands)])].map(async (written) => ({
      written,
      names: await namesFrom(bases, written),
    })),
  );
  const [first, ...others] = paths;
  // What a tool found when it was prepared counts beside what is there now: it opens the former.
  const all = first ? [{ ...first, names: [...new Set([...first.names, ...real])] }, ...others] : [];
  return { request, ...occasion, ...(prompt && { prompt }), ...reading, paths: all };
}

/** A tool that asks nothing is a subject too: rules may forbid its use. */
export function toolSubject(occasion: Occasion): Subject {
  return { paths: [], ...occasion, ...unread };
}

/** A place that a tool is about to look at, before it asks for anything. */
export function placeSubject({ path, real }: Pick<Place, 'path' | 'real'>, occasion: Occasion): Subject {
  const request = { kind: 'read' as const, intention: '', path };
  return { request, ...occasion, ...unread, paths: [{ written: path, names: [...new Set([path, real])] }] };
}

/** An address that a tool is about to look at, after the one it had leave for. */
export function addressSubject(url: string, occasion: Occasion): Subject {
  return { request: { kind: 'url', intention: '', url }, ...occasion, ...unread, paths: [] };
}

const unread = { commands: [], hidesCommands: false };

async function readShell(text: string): Promise<Pick<Subject, 'commands' | 'hidesCommands'>> {
  const { readShellCommand } = await import('./shell-command.js');
  const { segments, hidesCommands } = readShellCommand(text);
  return { commands: segments, hidesCommands };
}

function pathsOf({ request, prompt }: PermissionQuestion): readonly string[] {
  if (request.kind === 'shell') return request.possiblePaths;
  const further = prompt?.kind === 'path' ? prompt.paths : [];
  const path = pathOf(request);
  return path === undefined ? further : [...new Set([path, ...further])];
}

function pathOf(request: PermissionRequest): string | undefined {
  if (request.kind === 'read') return request.path;
  return request.kind === 'write' ? request.fileName : undefined;
}

/** A command that changes the directory changes where the paths after it start; any of them may be meant. */
function basesOf(commands: readonly ReadCommand[], workingDirectory: string): readonly string[] {
  const targets = commands.flatMap(({ words: [name = '', ...rest] }) =>
    movers.has(name) ? [rest.find((word) => !/^[-+]/.test(word)) ?? homedir()] : [],
  );
  const bases = [workingDirectory];
  for (const target of targets.slice(0, mostMoves))
    bases.push(...bases.map((base) => resolve(base, withKnownVariables(target, base))));
  return bases;
}

const movers: ReadonlySet<string> = new Set(['cd', 'pushd']);

/** Bases double with each move; those of longer journeys are not all told apart. */
const mostMoves = 5;

/** Words without a slash may be files too: `cat link` reads what the link leads to. */
function bareWords(commands: readonly ReadCommand[]): readonly string[] {
  return commands
    .flatMap(({ words }) => words.slice(1))
    .filter((word) => !word.startsWith('-'))
    .flatMap((word) => (word.includes('{') ? expandBraces(word) : [word]))
    .flatMap((word) => (/[=:,]/.test(word) ? [word, ...word.split(/[=:,]/)] : [word]))
    .filter((word) => word !== '' && !/[/~$`"'\\\0\n]/.test(word));
}

async function namesFrom(bases: readonly string[], written: string): Promise<readonly string[]> {
  const names = await Promise.all(bases.map((base) => namesOf(written, base)));
  if (names.some((some) => some.length === 0)) return [];
  return [...new Set(names.flat())];
}

async function namesOf(written: string, workingDirectory: string): Promise<readonly string[]> {
  const known = withKnownVariables(written, workingDirectory);
  if (/^~|[$`\0]/.test(known)) return [];
  const whole = resolve(workingDirectory, known);
  const matched = isWild(known) ? await matchedNames(whole) : [];
  if (!matched) return [];
  const real = await locate(whole, { workingDirectory, allowedDirectories: [] }).then(
    (place) => place.real,
    // What cannot be followed may lead anywhere.
    () => '/',
  );
  return [...new Set([whole, real, ...matched, ...(await climbed(known, workingDirectory))])];
}

/** `link/..` is by its name the directory of the link, and to the system that of what the link leads to. */
async function climbed(path: string, workingDirectory: string): Promise<readonly string[]> {
  const names = path.split('/');
  const up = names.lastIndexOf('..');
  if (up < 1) return [];
  const start = path.startsWith('/') ? '' : `${workingDirectory}/`;
  return realpath(start + names.slice(0, up + 1).join('/')).then(
    (real) => [join(real, ...names.slice(up + 1))],
    () => ['/'],
  );
}

/** What a shell puts in place of these is known before it runs. */
function withKnownVariables(written: string, workingDirectory: string): string {
  const plain = written.includes('$') ? written.replaceAll('"', '') : written;
  return plain
    .replace(/^~([\w.-]*)(?=\/|$)/, (tilde, user) =>
      user === '' || user === userInfo().username ? homedir() : tilde,
    )
    .replace(/\$(?:HOME\b|\{HOME\})/g, homedir())
    .replace(/\$(?:PWD\b|\{PWD\})/g, workingDirectory);
}
