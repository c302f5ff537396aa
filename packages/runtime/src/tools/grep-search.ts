import { relative } from 'node:path';
import { isWithin, locate } from '../workspace/paths.js';
import { type FoundFile, foundFiles, handlePath, withOpened } from './found-files.js';
import {
  type Block,
  isBinaryWarning,
  lineBlocks,
  listedPaths,
  nameBlocks,
  renamedBlock,
} from './grep-output.js';
import type { Ripgrep, SearchOutput } from './ripgrep.js';
import type { SearchRoot } from './search-roots.js';
import type { ToolContext } from './tool.js';
import { withHeldTree } from './unchanged-tree.js';

/** What is looked for, in flags of ripgrep. */
export interface SearchTask {
  readonly mode: 'content' | 'files_with_matches' | 'count';
  /** Lines that are enough; 0 for all. */
  readonly limit: number;
  /** Which files. */
  readonly placeFlags: readonly string[];
  /** What in them. */
  readonly textFlags: readonly string[];
  /** What is printed of a file. */
  readonly modeFlags: readonly string[];
}

/** Where, and by which ripgrep. */
export interface SearchPlace {
  readonly roots: readonly SearchRoot[];
  readonly context: ToolContext;
  readonly ripgrep: Ripgrep;
}

/** What was found, by file. */
export interface FoundText {
  readonly blocks: readonly Block[];
  /** There was more than is kept. */
  readonly isCut: boolean;
}

/** Prints the names of files and nothing else. */
export const nameFlags: readonly string[] = ['--files-with-matches', '--null', '--color=never'];

/**
 * One run of ripgrep over directories of the working directory. What it printed counts for files whose paths led to them all the
 * time; the others are searched again, each by its handle. Undefined where that cannot be shown, or each file by itself is better.
 */
export async function searchWhole(
  task: SearchTask,
  where: SearchPlace,
  signal: AbortSignal,
): Promise<FoundText | undefined> {
  const { context, ripgrep } = where;
  const here = await locate('.', { workingDirectory: context.workingDirectory, allowedDirectories: [] });
  const inside = rootsInside(where.roots, here.real);
  // The first lines are those of the first files, which a whole search would find last.
  if (!inside || here.kind !== 'directory' || (task.mode === 'content' && task.limit > 0)) return undefined;
  return withHeldTree(here, async (tree) => {
    const flags = [...task.modeFlags, ...task.placeFlags, ...task.textFlags, ...exclusions(context)];
    const names = inside.map(({ path }) => (path === '' ? '.' : `./${path}`));
    const output = await ripgrep.run([...flags, '--', ...names], { workingDirectory: tree.entry }, signal);
    const blocks = blocksOf(task, output);
    if (!blocks) return undefined;
    const binary = new Set(blocks.filter(({ text }) => isBinaryWarning(text)).map(({ path }) => path));
    const textual = blocks.map(({ path }) => path).filter((path) => !binary.has(path));
    const unchanged = await tree.unchanged([...new Set(textual.map(innerPath))]);
    const found = await chooseBlocks({ blocks, inside, unchanged }, { task, where }, signal);
    return { ...found, isCut: found.isCut || output.isCut };
  });
}

/** A root, and its path from the working directory. */
interface InnerRoot {
  readonly root: SearchRoot;
  readonly path: string;
}

/** Undefined unless all are directories within this one, and none within another. */
function rootsInside(roots: readonly SearchRoot[], directory: string): readonly InnerRoot[] | undefined {
  const inner = roots.map((root) => ({ root, path: relative(directory, root.place.real) }));
  const isPlain = roots.every(
    ({ place }, index) =>
      place.kind === 'directory' &&
      isWithin(directory, place.real) &&
      !roots.some((other, at) => at !== index && isWithin(other.place.real, place.real)),
  );
  return isPlain ? inner : undefined;
}

/** What may be shown of what ripgrep printed, under the names that the roots were given. */
async function chooseBlocks(
  printed: {
    readonly blocks: readonly Block[];
    readonly inside: readonly InnerRoot[];
    readonly unchanged: ReadonlySet<string>;
  },
  { task, where }: { readonly task: SearchTask; readonly where: SearchPlace },
  signal: AbortSignal,
): Promise<FoundText> {
  const named = printed.blocks.map((block) => {
    const path = innerPath(block.path);
    const name = displayName(path, printed.inside);
    return { name, block, isUnchanged: printed.unchanged.has(path) };
  });
  const files = new Map(
    foundFiles([...new Set(named.map(({ name }) => name))], where.roots, where.context).map((file) => [
      file.name,
      file,
    ]),
  );
  const shown = named.filter(({ name, isUnchanged }) => isUnchanged && files.has(name));
  const doubted = new Set(
    named.flatMap(({ name, isUnchanged }) => (isUnchanged ? [] : (files.get(name) ?? []))),
  );
  const again = await searchOpened([...doubted], { task, where }, signal);
  const blocks = shown.map(({ name, block }) => renamedBlock(block, name));
  return { blocks: [...blocks, ...again.blocks], isCut: again.isCut };
}

/** Ripgrep prints paths from where it started. */
function innerPath(printed: string): string {
  return printed.slice('./'.length);
}

function displayName(path: string, inside: readonly InnerRoot[]): string {
  for (const { root, path: start } of inside) {
    if (start !== '' && !isWithin(start, path)) continue;
    const rest = start === '' ? path : path.slice(start.length + 1);
    return root.name.endsWith('/') ? root.name + rest : `${root.name}/${rest}`;
  }
  return path;
}

/** Lets ripgrep say which files, and searches each by its handle, in their order, until there is enough. */
export async function searchEach(
  task: SearchTask,
  where: SearchPlace,
  signal: AbortSignal,
): Promise<FoundText> {
  const { roots, context, ripgrep } = where;
  const flags = [...nameFlags, ...task.placeFlags, ...task.textFlags, ...exclusions(context)];
  const names = await ripgrep.run([...flags, '--', ...roots.map((root) => root.name)], context, signal);
  const files = foundFiles(listedPaths(names.stdout.toString()), roots, context);
  const { blocks, isCut } = await searchOpened(files, { task, where }, signal);
  return { blocks, isCut: isCut || names.isCut };
}

/** Files that one process has open at a time, and processes beside one another: the one searches while files are opened for the next. */
const filesPerRun = 200;
const runsAtOnce = 4;

/** More than this is no answer to a question. */
const mostCharacters = 4 * 1024 * 1024;

/** Searches files that were opened and found to be where they should. */
async function searchOpened(
  files: readonly FoundFile[],
  search: { readonly task: SearchTask; readonly where: SearchPlace },
  signal: AbortSignal,
): Promise<FoundText> {
  const { limit } = search.task;
  // Who wants only a few lines has them from the first files.
  const atOnce = limit > 0 ? 1 : runsAtOnce;
  const blocks: Block[] = [];
  let [characters, lines] = [0, 0];
  for (let start = 0; start < files.length; start += filesPerRun * atOnce) {
    const starts = Array.from({ length: atOnce }, (_, index) => start + index * filesPerRun);
    const found = await Promise.all(
      starts.map((each) => searchSome(files.slice(each, each + filesPerRun), search, signal)),
    );
    for (const some of found) {
      for (const block of some.blocks) {
        blocks.push(block);
        characters += block.text.length;
        lines += limit > 0 ? linesOf(block.text) : 0;
      }
      if (some.isCut || characters > mostCharacters) return { blocks, isCut: true };
    }
    if (limit > 0 && lines >= limit) break;
  }
  return { blocks, isCut: false };
}

function searchSome(
  files: readonly FoundFile[],
  { task, where }: { readonly task: SearchTask; readonly where: SearchPlace },
  signal: AbortSignal,
): Promise<FoundText> {
  return withOpened(files, async (opened) => {
    if (opened.length === 0) return { blocks: [], isCut: false };
    const names = opened.map(({ file }, index) => handlePath(index + 3) ?? file.real);
    const open = opened.map(({ handle }) => handle);
    const flags = ['--no-ignore', ...task.modeFlags, ...task.textFlags];
    const output = await where.ripgrep.run([...flags, '--', ...names], { ...where.context, open }, signal);
    const display = new Map(names.map((name, index) => [name, opened[index]?.file.name ?? name]));
    const blocks = (blocksOf(task, output) ?? []).map((block) =>
      renamedBlock(block, display.get(block.path) ?? block.path),
    );
    return { blocks, isCut: output.isCut };
  });
}

function blocksOf({ mode }: SearchTask, { stdout }: SearchOutput): readonly Block[] | undefined {
  return (mode === 'files_with_matches' ? nameBlocks : lineBlocks)(stdout.toString());
}

function linesOf(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function exclusions({ searchExclusions }: ToolContext): readonly string[] {
  return (searchExclusions?.() ?? []).map((pattern) => `--glob=${pattern}`);
}
