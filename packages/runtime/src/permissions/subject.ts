import { realpath } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { eventLoopTurn } from '../event-loop-turn.js';
import { expandBraces } from '../workspace/glob-pattern.js';
import { locate, type Place } from '../workspace/paths.js';
import type { ReadCommand } from './command-rules.js';
import type { Definitions } from './definitions.js';
import type { Line, TouchedPath } from './line-dependencies.js';
import { leadsThroughProcess } from './process-paths.js';
import type { PermissionQuestion, PermissionRequest } from './question.js';
import { isShortWord } from './shell/bounds.js';
import { isWild, matchedNames } from './wildcards.js';

/** A call as rules see it: what it asks permission for, by what tool, and where that really leads. */
export interface Subject {
  /** Absent when the use of the tool is all there is. */
  readonly request?: PermissionRequest;
  readonly prompt?: PermissionQuestion['prompt'];
  readonly toolName?: string;
  readonly workingDirectory: string;
  readonly paths: readonly TouchedPath[];
  /** Of a shell request: all that would run. */
  readonly commands: readonly ReadCommand[];
  /** The text does not say all that would run. */
  readonly hidesCommands: boolean;
  /** There is more of it than was read. */
  readonly isUnread: boolean;
  /** Why more may happen here than the command shows. With any risk a call is neither read-only nor covered by an approval. */
  readonly risks: readonly string[];
  /** What the project says that its commands run. */
  readonly definitions: Definitions;
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
  const reading = await readLine(request);
  const bases = basesOf(reading.commands, workingDirectory);
  const named = [...new Set([...pathsOf(question), ...candidates(reading.commands)])];
  const isTooMuch = bases.length > mostBases || bases.length * named.length > mostLookups;
  const starts = isTooMuch ? [workingDirectory] : bases;
  const looked = isTooMuch ? pathsOf(question).slice(0, mostLookups) : named;
  const paths: TouchedPath[] = [];
  // A few at a time: what starts hundreds of look-ups at once keeps all other sessions waiting.
  for (let at = 0; at < looked.length; at += lookupsAtOnce) {
    const some = looked.slice(at, at + lookupsAtOnce).map(async (written) => ({
      written,
      names: await namesFrom(starts, written, request.kind === 'shell'),
    }));
    paths.push(...(await Promise.all(some)));
  }
  const [first, ...others] = paths;
  // What a tool found when it was prepared counts beside what is there now: it opens the former.
  const all = first ? [{ ...first, names: [...new Set([...first.names, ...real])] }, ...others] : [];
  const subject: Subject = {
    request,
    ...occasion,
    ...(prompt && { prompt }),
    commands: reading.commands,
    hidesCommands: reading.hidesCommands,
    isUnread: reading.isUnread,
    risks: [],
    definitions: question.definitions ?? {},
    paths: all,
  };
  if (request.kind !== 'shell') return subject;
  if (isTooMuch)
    return { ...subject, isUnread: true, hidesCommands: true, risks: ['it names too many places'] };
  const line = { ...reading, paths, workingDirectory };
  const [{ findCommandRisks }, { definitionsOf }] = await Promise.all([
    import('./command-risks.js'),
    import('./definitions.js'),
  ]);
  const [{ risks, hidesCommands }, definitions] = await Promise.all([
    findCommandRisks(line, { bases, workingDirectory }),
    definitionsOf(reading.commands, { bases, workingDirectory }),
  ]);
  return { ...subject, risks, definitions, hidesCommands: subject.hidesCommands || hidesCommands };
}

/** A tool that asks nothing is a subject too: rules may forbid its use. */
export function toolSubject(occasion: Occasion): Subject {
  return { paths: [], ...occasion, ...nothingRead };
}

/** A place that a tool is about to look at, before it asks for anything. */
export function placeSubject({ path, real }: Pick<Place, 'path' | 'real'>, occasion: Occasion): Subject {
  const request = { kind: 'read' as const, intention: '', path };
  return {
    request,
    ...occasion,
    ...nothingRead,
    paths: [{ written: path, names: [...new Set([path, real])] }],
  };
}

/** An address that a tool is about to look at, after the one it had permission for. */
export function addressSubject(url: string, occasion: Occasion): Subject {
  return { request: { kind: 'url', intention: '', url }, ...occasion, ...nothingRead, paths: [] };
}

const nothingRead: Pick<Subject, 'commands' | 'hidesCommands' | 'isUnread' | 'risks' | 'definitions'> = {
  commands: [],
  hidesCommands: false,
  isUnread: false,
  risks: [],
  definitions: {},
};

/** A request as its line says it; one that is no command says nothing. */
async function readLine(
  request: PermissionRequest,
): Promise<
  Pick<Subject, 'commands' | 'hidesCommands' | 'isUnread'> & Pick<Line, 'writtenFiles' | 'isOrdered'>
> {
  if (request.kind !== 'shell') return { ...nothingRead, writtenFiles: [], isOrdered: true };
  const { isRead, readingOf } = await import('./shell-command.js');
  if (!isRead(request)) await eventLoopTurn();
  const { segments, ...reading } = readingOf(request);
  return { ...reading, commands: segments };
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
  for (const target of targets.slice(0, mostMoves + 1))
    bases.push(...bases.map((base) => resolve(base, withKnownVariables(target, base))));
  return bases;
}

const movers: ReadonlySet<string> = new Set(['cd', 'pushd']);

/** Bases double with each move; longer journeys are not followed, and lead to unknown places. */
const mostMoves = 5;
const mostBases = 2 ** mostMoves;
const mostLookups = 500;
const lookupsAtOnce = 32;

/**
 * Any word may be a file, also one that looks like an option or stands behind one: `cat link` reads what the link leads to,
 * and so do `cat -- -link` and `grep -flink`.
 */
function candidates(commands: readonly ReadCommand[]): readonly string[] {
  const written = commands.flatMap(({ words, call }) => [
    ...words.slice(1).flatMap(piecesOf),
    ...(call?.options ?? []).flatMap(({ value }) => (value === undefined ? [] : [value])),
    ...(call?.operands ?? []).map(({ value }) => value),
    ...(call?.made ?? []),
  ]);
  return [...new Set(written)]
    .flatMap((word) => (word.includes('{') && isShortWord(word) ? expandBraces(word) : [word]))
    .filter((word) => word !== '' && word !== '-' && !/[~$`"'\\\0\n]/.test(word) && isShortWord(word));
}

/** Words with a slash that look like a path come from the reader of the command. */
function piecesOf(word: string): readonly string[] {
  if (!isShortWord(word)) return [];
  const pieces = word.split(/[=:,@<;]/);
  const joined = /^-[^-].+/.test(word) ? [word.slice(2)] : [];
  const whole = [word, ...joined].filter((each) => !each.includes('/'));
  // `a=@d/link`: what leads out of here by itself comes from the reader too.
  return [...whole, ...(pieces.length > 1 && !word.includes('://') ? pieces.filter(isBelow) : [])];
}

function isBelow(piece: string): boolean {
  return !piece.startsWith('/') && !piece.split('/').includes('..');
}

/** None where it cannot be said which they are. */
async function namesFrom(
  bases: readonly string[],
  written: string,
  isOpenedElsewhere: boolean,
): Promise<readonly string[]> {
  const names = await Promise.all(
    bases.map(async (base) => {
      const found = await namesOf(written, base);
      // Another process follows links of the kernel to other places.
      const isPlain = found.length === 1 && !/^\/(?:proc|dev)\//.test(found[0] ?? '');
      if (!isOpenedElsewhere || isPlain) return found;
      return (await Promise.all(found.map(leadsThroughProcess))).includes(true) ? [] : found;
    }),
  );
  if (names.some((some) => some.length === 0)) return [];
  return [...new Set(names.flat())];
}

async function namesOf(written: string, workingDirectory: string): Promise<readonly string[]> {
  const known = withKnownVariables(written, workingDirectory);
  if (/^~|[$`\0]/.test(known) || isLongPath(known)) return [];
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

/** To follow it would take longer than anything that is there is deep. */
function isLongPath(path: string): boolean {
  return path.length > longestPath || path.split('/').length > deepestPath;
}

const longestPath = 4096;
const deepestPath = 128;

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
