import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { isAbsent } from '../workspace/absent.js';
import type { ReadCommand } from './command-rules.js';
import { examineGit, type GitPlace, hasForeignBelow } from './git-place.js';
import { addedAndAsked, findLineDependencies, type Line, looksForChanges } from './line-dependencies.js';
import { hasLinksBelow, leadsOutBelow } from './links-below.js';
import type { ParsedCall } from './shell/options.js';
import { goesByWrittenFiles } from './user-start-files.js';
import { isWild, matchedNames } from './wildcards.js';

/** Where the commands of a text may stand. */
interface Places {
  /** Every directory that some command may be run in. */
  readonly bases: readonly string[];
  readonly workingDirectory: string;
}

/** Looks at the disk for what the text alone does not say: the files that wildcards become, directories with links, settings of git. */
export async function findCommandRisks(
  line: Line,
  places: Places,
): Promise<{ readonly risks: readonly string[]; readonly hidesCommands: boolean }> {
  const { commands } = line;
  const added = addedAndAsked(line);
  const { isInterdependent, hidesCommands } = findLineDependencies(line, {
    hasForeignBelow: added !== undefined && (await hasForeignBelow(places.workingDirectory, added)),
  });
  const [wildcards, links, filled, unpacked, git, written] = await Promise.all([
    becomesOption(commands, places),
    meetsLinks(commands, places),
    fillsLinks(commands, places),
    unpacksOut(commands, places),
    gitRisks(commands, places),
    goesByWrittenFiles(commands),
  ]);
  return {
    risks: [
      ...(wildcards ? ['a wildcard may become an option'] : []),
      ...(links ? ['it would read whatever links in a directory lead to'] : []),
      ...(filled || unpacked ? ['it would write through links in a directory'] : []),
      ...git.risks,
      ...(isInterdependent ? ['one part of the line may change what another part goes by'] : []),
    ],
    hidesCommands: wildcards || git.runsMore || written || hidesCommands,
  };
}

/** A file may be named like an option: `tar -cf x *`. */
async function becomesOption(commands: readonly ReadCommand[], { bases }: Places): Promise<boolean> {
  const open = commands
    .flatMap(({ wild = [] }) => wild)
    .filter((word) => /^[*?[]/.test(word) && !word.includes('/'));
  const found = await Promise.all(
    [...new Set(open)].flatMap((word) => bases.map((base) => matchedNames(resolve(base, word)))),
  );
  return found.some((names) => names === undefined || names.some((name) => basename(name).startsWith('-')));
}

async function meetsLinks(commands: readonly ReadCommand[], { bases }: Places): Promise<boolean> {
  const places = commands
    .flatMap(({ call }) => (call?.followsLinksInside ? call.operands : []))
    .flatMap(({ value }) => bases.map((base) => resolve(base, value)));
  const kinds = await Promise.all(places.map(isDirectory));
  return kinds.includes(true);
}

/** `cp -r a d` writes what `a` has in it to where links of the same names in `d/a` lead. */
async function fillsLinks(commands: readonly ReadCommand[], { bases }: Places): Promise<boolean> {
  const roots = commands
    .flatMap(({ call }) => call?.filled ?? [])
    .flatMap((place) => bases.map((base) => resolve(base, place)));
  const found = await Promise.all(
    [...new Set(roots)].map(async (root) => {
      const places = isWild(root) ? await matchedNames(root) : [root];
      return places === undefined || (await Promise.all(places.map(hasLinksBelow))).includes(true);
    }),
  );
  return found.includes(true);
}

/** An archive may name a file below a link that is there, and `tar` and `unzip` write it to where that leads. */
async function unpacksOut(
  commands: readonly ReadCommand[],
  { bases, workingDirectory }: Places,
): Promise<boolean> {
  const roots = commands
    .flatMap(({ call }) => call?.unpacked ?? [])
    .flatMap((place) => bases.map((base) => resolve(base, place)));
  const found = await Promise.all([...new Set(roots)].map((root) => leadsOutBelow(root, workingDirectory)));
  return found.includes(true);
}

/** True also for what cannot be looked at. */
async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    (error: unknown) => !isAbsent(error),
  );
}

async function gitRisks(
  commands: readonly ReadCommand[],
  { bases, workingDirectory }: Places,
): Promise<{ readonly risks: readonly string[]; readonly runsMore: boolean }> {
  const calls = commands.flatMap(({ call }) => (call?.git ? [{ call, git: call.git }] : []));
  if (calls.length === 0) return { risks: [], runsMore: false };
  const starts = calls.flatMap(({ git }) => bases.map((base) => resolve(base, ...git.directories)));
  const place = await examineGit(starts, workingDirectory);
  const reads = calls.filter(({ call }) => call.role === 'reads');
  const asksNested = reads.some(({ git }) => looksForChanges.has(git.subcommand));
  const changes = calls.length > reads.length;
  const pushes = calls.filter(({ git }) => git.subcommand === 'push');
  const fetches = calls.flatMap(({ call, git }) => {
    if (fetching.has(git.subcommand)) return [{ call }];
    const operands =
      git.subcommand === 'remote' && call.role !== 'reads' ? contacted(git.inner, call) : undefined;
    return operands ? [{ call: { ...call, operands } }] : [];
  });
  const pushed = (
    await Promise.all([
      ...pushes.map(({ call }) => pushRisks(call, { starts, place })),
      ...fetches.map(({ call }) => fetchRisks(call, { starts, place })),
    ])
  ).flat();
  return {
    risks: [...(reads.length > 0 ? place.risks : []), ...(asksNested ? place.nestedRisks : []), ...pushed],
    runsMore:
      place.risks.length + pushed.length > 0 ||
      place.isSteeredByUser ||
      (asksNested && place.hasIndexHook) ||
      ((asksNested || changes) && place.nestedRisks.length > 0) ||
      (changes && place.hasHooks),
  };
}

/** Why a push may do more than its words say: by settings, or because the repository it goes to is here, with its own hooks. */
async function pushRisks(call: ParsedCall, context: PlacedCall): Promise<readonly string[]> {
  const { forcing } = context.place;
  return [
    ...(forcing === undefined ? [] : [`the settings of the repository decide what is pushed: ${forcing}`]),
    ...((await isLocal(call, context)) ? ['git would push to a repository whose hooks run here'] : []),
  ];
}

/** Sub-commands that take from another repository. */
const fetching: ReadonlySet<string> = new Set('fetch pull clone ls-remote'.split(' '));

/** What `git remote` talks to, if it talks to any: a name, an address, or with nothing all there are. */
function contacted(
  inner: string | undefined,
  { operands, options }: ParsedCall,
): ParsedCall['operands'] | undefined {
  const isGiven = (...names: readonly string[]) => options.some(({ name }) => names.includes(name));
  switch (inner) {
    case 'add':
      return isGiven('-f') ? operands.slice(1) : undefined;
    case 'show':
      return isGiven('-n') ? undefined : operands;
    case 'set-head':
      return isGiven('-a', '--auto') ? operands : undefined;
    case 'prune':
      return operands;
    case 'update':
      return [];
    default:
      return undefined;
  }
}

/** A repository of this machine is served by a second git, which goes by the settings of that repository. */
async function fetchRisks(call: ParsedCall, context: PlacedCall): Promise<readonly string[]> {
  return (await isLocal(call, context))
    ? ['git would fetch from a repository of this machine, and go by its settings']
    : [];
}

interface PlacedCall {
  readonly starts: readonly string[];
  readonly place: GitPlace;
}

/** Whether the other repository of a call is on this machine. */
async function isLocal(
  { operands }: ParsedCall,
  { starts, place: { remotes } }: PlacedCall,
): Promise<boolean> {
  const [target] = operands;
  const named = target ? (remotes.get(target.value) ?? [target.value]) : [...remotes.values()].flat();
  const here = await Promise.all(
    named
      .filter((each) => !isElsewhere(each))
      .flatMap((each) => starts.map((start) => isThere(resolve(start, each)))),
  );
  return here.includes(true);
}

/** An address on another machine. */
function isElsewhere(place: string): boolean {
  return /^(?:https?|ssh|git|git\+ssh):\/\/[^/]|^(?:[\w.-]+@)?[\w-]+(?:\.[\w-]+)+:(?!\/\/)/i.test(place);
}

/** A name that leads to nothing is an error of git; one that leads somewhere is a repository of this machine. */
async function isThere(path: string): Promise<boolean> {
  const plain = path.replace(/^.*\/file:\/+/, '/');
  return stat(plain).then(
    () => true,
    (error: unknown) => !isAbsent(error),
  );
}
