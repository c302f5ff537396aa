import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { absent } from '../workspace/absent.js';
import { isWithin } from '../workspace/paths.js';
import { nestedRepositories } from './git-index.js';
import { type GitSettings, readGitSettings } from './git-settings.js';
import { repositoriesBelow } from './repositories-below.js';
import { userGitSettings, writtenSinceStart } from './user-start-files.js';

/** What git would run besides itself in some places. */
export interface GitPlace {
  /** Why git cannot be taken to only read there; none when it can. */
  readonly risks: readonly string[];
  /** The same for commands that look whether files have changed: they look into nested repositories as well. */
  readonly nestedRisks: readonly string[];
  /** A command that changes the repository may run hooks. */
  readonly hasHooks: boolean;
  /** A command that looks whether files have changed may write the index, and a hook is run after that. */
  readonly hasIndexHook: boolean;
  /** The user's own settings, which a session may have written, decide what git runs. */
  readonly isSteeredByUser: boolean;
  /** A push may do more than its words say. */
  readonly forcing?: string;
  /** Where each remote repository is, by its name. */
  readonly remotes: GitSettings['remotes'];
}

/**
 * Looks where git would work when it is started in one of these directories. Only the session's own repository, with
 * settings that name no program, is known not to run anything. Files are read anew each time: however they were changed,
 * and whenever, what they say now counts.
 */
export async function examineGit(starts: readonly string[], workingDirectory: string): Promise<GitPlace> {
  const own = await repositoryOf(workingDirectory);
  const found = await Promise.all([...new Set(starts)].map(repositoryOf));
  if (found.some((each) => each?.root !== own?.root))
    return unknownPlace('git would work in a repository that is not the session’s own');
  if (!own) return { ...unknownPlace(), hasHooks: false, hasIndexHook: false };
  if (!own.directories) return unknownPlace('the repository is no plain one');
  const files = settingsFiles(own.directories, workingDirectory);
  const settings = (await Promise.all(files.map(textOf))).map((text) => readGitSettings(text));
  const risks = [...settingRisks(settings), ...(await directoryRisks(own.directories))];
  const described = await describedRemotes(own.directories);
  const written = (await Promise.all((await writtenSinceStart(userGitSettings())).map(textOf))).map((text) =>
    readGitSettings(text),
  );
  const hooks = await hookFiles([
    ...own.directories.map((each) => join(each, 'hooks')),
    ...movedHooks([...settings, ...written], own.root),
  ]);
  const forcing = [...settings.map((each) => each.forcing), described].find((each) => each !== undefined);
  return {
    risks,
    nestedRisks: [...new Set((await nestedFindings(own, 0)).map(({ risk }) => risk))],
    hasHooks: hooks.length > 0 || settings.some(({ hooksPath }) => hooksPath !== undefined),
    hasIndexHook: hooks.some(isIndexHook),
    isSteeredByUser: settingRisks(written).length > 0,
    ...(forcing !== undefined && { forcing }),
    remotes: new Map(settings.flatMap(({ remotes }) => [...remotes])),
  };
}

function unknownPlace(...risks: readonly string[]): GitPlace {
  return {
    risks,
    nestedRisks: [],
    hasHooks: true,
    hasIndexHook: true,
    isSteeredByUser: false,
    remotes: new Map(),
  };
}

function settingRisks(settings: readonly GitSettings[]): readonly string[] {
  const foreign = settings.map((each) => each.foreign).find((each) => each !== undefined);
  return foreign === undefined ? [] : [`the settings of the repository decide what git runs: ${foreign}`];
}

/**
 * All that decides what git runs when it changes the repositories around these directories: their hooks, and the settings of
 * them and of the repositories in them.
 */
export async function gitDefinitions(places: readonly string[]): Promise<readonly string[]> {
  const found = (await Promise.all(places.map(repositoryOf))).filter((each) => each !== undefined);
  const repositories = [...new Map(found.map((each) => [each.root, each])).values()];
  return (await Promise.all(repositories.map(definitionsIn))).flat();
}

/**
 * Whether the work tree around a directory has repositories in it that would run something when git asks them for changes.
 * Those count too that git does not know of yet: to add one is to have it asked.
 */
export async function hasForeignBelow(
  workingDirectory: string,
  options: { readonly withIgnored: boolean },
): Promise<boolean> {
  const own = await repositoryOf(workingDirectory);
  if (!own) return false;
  const places = await repositoriesBelow(own.root, options);
  if (!places) return true;
  const found = await Promise.all(places.map((place) => findingsInside(place, 0)));
  return found.some((each) => each.length > 0);
}

async function definitionsIn(repository: Repository): Promise<readonly string[]> {
  const { root, directories } = repository;
  if (!directories) return [`${root} is no plain repository`];
  const texts = await Promise.all(settingsFiles(directories, root).map(textOf));
  const settings = texts.map((text) => readGitSettings(text));
  const moved = movedHooks(settings, root);
  const hooks = await hookFiles([...directories.map((each) => join(each, 'hooks')), ...moved]);
  const hookTexts = await Promise.all(hooks.map(textOf));
  const nested = await nestedFindings(repository, 0);
  return [
    ...settings.flatMap(({ deciding }) => deciding),
    ...moved,
    ...hooks.map((path, index) => `${path}\0${hookTexts[index] ?? ''}`),
    ...nested.flatMap(({ risk, deciding }) => [risk, ...deciding]),
  ];
}

/** Where settings say that hooks are. */
function movedHooks(settings: readonly GitSettings[], root: string): readonly string[] {
  return settings.flatMap(({ hooksPath }) =>
    hooksPath === undefined ? [] : [resolve(root, hooksPath.replace(/^~(?=\/)/, homedir()))],
  );
}

interface Repository {
  readonly root: string;
  /** Where its settings and hooks are; absent when they are somewhere unusual. */
  readonly directories?: readonly string[];
}

/** The repository that git finds from a directory upwards. A directory that is a bare one counts too. */
async function repositoryOf(start: string): Promise<Repository | undefined> {
  for (let root = resolve(start); ; root = dirname(root)) {
    const entry = join(root, '.git');
    const kind = await lstat(entry).catch(absent);
    // Only a linked work tree shares settings with another directory, and its `.git` is a file.
    if (kind?.isDirectory())
      return (await lstat(join(entry, 'commondir')).catch(absent))
        ? { root }
        : { root, directories: [entry] };
    if (kind?.isFile()) return { root, ...(await linked(root, entry)) };
    if (kind || (await looksBare(root))) return { root };
    if (dirname(root) === root) return undefined;
  }
}

/**
 * A linked work tree's `.git` is a file that names its own directory, and that directory names the file; what all work
 * trees share is in another. A file that names any other directory leads to a foreign repository.
 */
async function linked(root: string, entry: string): Promise<Pick<Repository, 'directories'>> {
  const directory = await pointedTo(root, entry);
  if (directory === undefined) return {};
  const back = (await textOf(join(directory, 'gitdir')))?.trim();
  if (back === undefined || (await realOf(resolve(directory, back))) !== (await realOf(entry))) return {};
  const common = (await textOf(join(directory, 'commondir')))?.trim();
  return { directories: [directory, ...(common ? [resolve(directory, common)] : [])] };
}

async function pointedTo(root: string, entry: string): Promise<string | undefined> {
  const pointer = /^gitdir: ([^\n]+)\n?$/.exec((await textOf(entry)) ?? '')?.[1];
  return pointer === undefined ? undefined : resolve(root, pointer);
}

async function looksBare(directory: string): Promise<boolean> {
  const kinds = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => lstat(join(directory, name)).catch(absent)),
  );
  return kinds.every((kind) => kind !== undefined);
}

/** In assisted sessions the user's own settings count only where one could have written them unasked. */
function settingsFiles(directories: readonly string[], workingDirectory: string): readonly string[] {
  const ofUser = isWithin(workingDirectory, homedir()) ? userGitSettings() : [];
  return [...directories.flatMap((each) => [join(each, 'config'), join(each, 'config.worktree')]), ...ofUser];
}

/** What of a repository's directory git shows as it stands, though a link may have put another file there. */
async function directoryRisks(directories: readonly string[]): Promise<readonly string[]> {
  const borrows = await Promise.all(directories.map((each) => textOf(join(each, 'objects/info/alternates'))));
  const workTrees = await Promise.all(directories.map((each) => entriesOf(join(each, 'worktrees'))));
  const shown = [
    ...directories.flatMap((each) =>
      ['', 'info', 'logs', 'worktrees', ...pendingWork].map((name) => join(each, name)),
    ),
    ...workTrees.flat(),
  ];
  const links = await Promise.all(shown.map(hasLinks));
  return [
    ...(borrows.some((text) => text !== undefined) ? ['the repository borrows from another one'] : []),
    ...(links.includes(true) ? ['links in the repository’s own directory lead elsewhere'] : []),
  ];
}

/** The oldest way to describe a remote repository, with what is pushed to it, is a file of its own. */
async function describedRemotes(directories: readonly string[]): Promise<string | undefined> {
  const places = directories.flatMap((each) => ['remotes', 'branches'].map((name) => join(each, name)));
  const names = await Promise.all(places.map((place) => readdir(place).catch(absent)));
  return places.find((_, index) => (names[index] ?? []).length > 0);
}

/** Where git keeps a rebase, a cherry-pick or a series of patches that is not finished. */
const pendingWork = ['rebase-merge', 'rebase-apply', 'sequencer'];

async function entriesOf(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory).catch(absent)) ?? [];
  return names.map((name) => join(directory, name));
}

async function hasLinks(directory: string): Promise<boolean> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(absent);
  return entries?.some((entry) => entry.isSymbolicLink()) ?? false;
}

/** Why something may run in a nested repository, and the settings that say so. */
interface NestedFinding {
  readonly risk: string;
  readonly deciding: readonly string[];
}

/**
 * Why a look for changes may run something in a repository that the index has in it: git asks each one that is checked out
 * whether it is clean, and that one's own settings decide what runs.
 */
async function nestedFindings(
  { root, directories = [] }: Repository,
  depth: number,
): Promise<readonly NestedFinding[]> {
  const [directory] = directories;
  const index = directory && (await bytesOf(join(directory, 'index')));
  if (!index || !directory) return [];
  const formats = await Promise.all(directories.map((each) => textOf(join(each, 'config'))));
  const hashBytes = formats.some((text) => /objectformat\s*=\s*sha256/i.test(text ?? '')) ? 32 : 20;
  const paths = nestedRepositories(index, hashBytes);
  if (!paths || paths.length > mostNested || (paths.length > 0 && depth === deepestNested))
    return [finding('git would look into nested repositories that are not known')];
  return (await Promise.all(paths.map((path) => findingsInside(join(root, path), depth)))).flat();
}

const longestIndex = 32 * 1024 * 1024;
const mostNested = 50;
const deepestNested = 4;

function finding(risk: string, deciding: readonly string[] = []): NestedFinding {
  return { risk, deciding };
}

async function findingsInside(root: string, depth: number): Promise<readonly NestedFinding[]> {
  const entry = join(root, '.git');
  const kind = await lstat(entry).catch(absent);
  if (!kind) return [];
  const directory = kind.isDirectory() ? entry : kind.isFile() && (await pointedTo(root, entry));
  if (!directory) return [finding('a nested repository is no plain one')];
  const isOwnWorkTree = (path: string) => resolve(directory, path) === root;
  const files = [join(directory, 'config'), join(directory, 'config.worktree')];
  const settings = (await Promise.all(files.map(textOf))).map((text) => readGitSettings(text, isOwnWorkTree));
  const common = await textOf(join(directory, 'commondir'));
  const repository = { root, directories: [directory] };
  const hooks = (await hookFiles([join(directory, 'hooks'), ...movedHooks(settings, root)])).filter(
    isIndexHook,
  );
  return [
    ...(common === undefined ? [] : [finding('a nested repository is no plain one')]),
    ...settingRisks(settings).map((risk) =>
      finding(`${risk}, in a nested one`, [root, ...settings.flatMap(({ deciding }) => deciding)]),
    ),
    ...(await Promise.all(
      hooks.map(async (path) =>
        finding('a nested repository has a hook for looks at its changes', [
          path,
          (await textOf(path)) ?? '',
        ]),
      ),
    )),
    ...(await nestedFindings(repository, depth + 1)),
  ];
}

/** Run by every git that writes an index, which one that looks for changes may do. */
function isIndexHook(path: string): boolean {
  return basename(path) === 'post-index-change';
}

/** The hooks in these directories; samples are not run. */
async function hookFiles(places: readonly string[]): Promise<readonly string[]> {
  const names = await Promise.all(places.map((each) => readdir(each).catch(() => [])));
  const hooks = names.map((each) => each.filter((name) => !name.endsWith('.sample')));
  return places.flatMap((place, index) => (hooks[index] ?? []).map((name) => join(place, name)));
}

async function textOf(path: string): Promise<string | undefined> {
  return (await bytesOf(path))?.toString('utf8');
}

/** A pipe, or a file without end, would block its reader: neither is what git wrote. */
async function bytesOf(path: string): Promise<Buffer | undefined> {
  const found = await stat(path).catch(absent);
  if (!found) return undefined;
  return found.isFile() && found.size <= longestIndex ? readFile(path) : unreadable;
}

/** Neither settings nor an index, nor the name of a directory. */
const unreadable = Buffer.from('[\n');

async function realOf(path: string): Promise<string | undefined> {
  return realpath(path).catch(absent);
}
