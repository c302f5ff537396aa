import { defineTool } from './define-tool.js';
import { choice, flag, type Input, number, optional, text, texts } from './fields.js';
import { type FoundFile, foundFiles, handlePath, withOpened } from './found-files.js';
import { listedPaths, renamed, sortedLines, sortedPaths } from './grep-output.js';
import { permissionToRead } from './permission-questions.js';
import { Ripgrep } from './ripgrep.js';
import { requireUnmoved, type SearchRoot, searchRoots } from './search-roots.js';
import type { Tool, ToolContext, ToolResult } from './tool.js';

const defaultMode = 'files_with_matches';
const lines = { minimum: 0, maximum: 1000 };

const fields = {
  pattern: text('The regular expression to search for, in ripgrep syntax.'),
  path: optional(texts('Where to search: files or directories; the working directory when left out.')),
  paths: optional(texts('The same as path.')),
  output_mode: optional(
    choice(
      'content: the lines that match. files_with_matches (the default): only the names of files. count: how many lines match in each file.',
      ['content', 'files_with_matches', 'count'],
    ),
  ),
  glob: optional(text('Search only files that match this pattern, such as *.ts or **/*.{js,jsx}.')),
  type: optional(text('Search only files of this type, such as js, py or rust.')),
  '-i': optional(flag('Ignore upper and lower case.')),
  '-A': optional(number('Lines to show after each match; for content only.', lines)),
  '-B': optional(number('Lines to show before each match; for content only.', lines)),
  '-C': optional(number('Lines to show before and after each match; for content only.', lines)),
  '-n': optional(flag('Show line numbers; for content only.')),
  head_limit: optional(number('Show only so many lines of the result; 0 shows all.', { minimum: 0 })),
  multiline: optional(flag('Let the pattern match across lines.')),
};

type Wanted = Input<typeof fields>;

/** Searches the content of files with ripgrep. */
export function grepTool(): Tool {
  const ripgrep = new Ripgrep();
  return defineTool({
    name: 'grep',
    description:
      'Searches the content of files with ripgrep. Files that ignore files name, hidden and binary ones are left out. Braces and other special characters must be escaped to be found as they are.',
    changesNothing: true,
    fields,
    isRepeatable: true,
    intention: ({ path, paths }) => [path ?? paths ?? []].flat().join(', ') || undefined,
    prepare: async (wanted, context) => {
      const roots = await searchRoots(wanted.path ?? wanted.paths, context);
      return {
        type: 'run',
        questions: permissionToRead(
          roots.map((root) => root.place),
          ({ kind, path }) => `Search in ${kind === 'directory' ? 'directory' : 'file'}: ${path}`,
        ),
        run: (signal) => search(wanted, { roots, context, ripgrep }, signal),
      };
    },
  });
}

async function search(
  wanted: Wanted,
  where: {
    readonly roots: readonly SearchRoot[];
    readonly context: ToolContext;
    readonly ripgrep: Ripgrep;
  },
  signal: AbortSignal,
): Promise<ToolResult> {
  const { roots, context, ripgrep } = where;
  const excluded = (context.searchExclusions?.() ?? []).map((pattern) => `--glob=${pattern}`);
  const looking = [...modeFlags.files_with_matches, ...placeFlags(wanted), ...textFlags(wanted), ...excluded];
  const names = await ripgrep.run([...looking, '--', ...roots.map((root) => root.name)], context, signal);
  const files = foundFiles(listedPaths(names.stdout.toString()), roots, context);
  const { stdout, isCut } = await readFound(files, { wanted, context, ripgrep }, signal);
  await requireUnmoved(roots, context);
  if (stdout.length === 0) return { type: 'success', text: 'No matches found.' };
  const all = readers[wanted.output_mode ?? defaultMode](stdout);
  const { head_limit: limit } = wanted;
  const shown = !limit ? all : all.split('\n').slice(0, limit).join('\n');
  const isAll = !isCut && !names.isCut;
  return {
    type: 'success',
    text: shown,
    ...(!isAll && { suffix: '\n(There were more matches than could be kept; search more narrowly.)' }),
  };
}

/** Files that one process has open at a time, and processes beside one another: the one searches while files are opened for the next. */
const filesPerRun = 200;
const runsAtOnce = 4;

/** Searches files that were opened and found to be where they should, in their order, until there is enough. */
async function readFound(
  files: readonly FoundFile[],
  search: { readonly wanted: Wanted; readonly context: ToolContext; readonly ripgrep: Ripgrep },
  signal: AbortSignal,
): Promise<{ readonly stdout: string; readonly isCut: boolean }> {
  const { wanted, context, ripgrep } = search;
  const { output_mode: mode = defaultMode, head_limit: limit } = wanted;
  const flags = [
    ...modeFlags[mode],
    ...(mode === 'content' ? contentFlags(wanted) : []),
    ...textFlags(wanted),
  ];
  const searchSome = (some: readonly FoundFile[]) =>
    withOpened(some, async (opened) => {
      if (opened.length === 0) return { text: '', isCut: false };
      const names = opened.map(({ file }, index) => handlePath(index + 3) ?? file.real);
      const open = opened.map(({ handle }) => handle);
      const output = await ripgrep.run(
        ['--no-ignore', ...flags, '--', ...names],
        { ...context, open },
        signal,
      );
      const display = new Map(names.map((name, index) => [name, opened[index]?.file.name ?? name]));
      return { text: renamed(output.stdout.toString(), display), isCut: output.isCut };
    });
  // Who wants only a few lines has them from the first files.
  const atOnce = limit ? 1 : runsAtOnce;
  let stdout = '';
  for (let start = 0; start < files.length; start += filesPerRun * atOnce) {
    const starts = Array.from({ length: atOnce }, (_, index) => start + index * filesPerRun);
    const found = await Promise.all(starts.map((each) => searchSome(files.slice(each, each + filesPerRun))));
    for (const { text, isCut } of found) {
      stdout += text;
      if (isCut || stdout.length > mostCharacters) return { stdout, isCut: true };
    }
    if (limit && endsIn(stdout, mode === 'files_with_matches' ? '\0' : '\n') >= limit) break;
  }
  return { stdout, isCut: false };
}

/** More than this is no answer to a question. */
const mostCharacters = 4 * 1024 * 1024;

function endsIn(stdout: string, end: '\0' | '\n'): number {
  return stdout.split(end).length - 1;
}

const readers = {
  content: (stdout: string) => sortedLines(stdout, ''),
  files_with_matches: sortedPaths,
  count: (stdout: string) => sortedLines(stdout, ':'),
};

/** Which files. */
function placeFlags({ glob, type }: Wanted): readonly string[] {
  return [
    ...(glob !== undefined ? [`--glob=${glob}`] : []),
    ...(type !== undefined ? [`--type=${type}`] : []),
  ];
}

/** What in them. */
function textFlags(wanted: Wanted): readonly string[] {
  return [
    ...(wanted['-i'] ? ['--ignore-case'] : []),
    ...(wanted.multiline ? ['--multiline', '--multiline-dotall'] : []),
    `--regexp=${wanted.pattern}`,
  ];
}

/** Fields end in NUL, which is in no path and in no text line: so a path is told from what follows it. */
const modeFlags = {
  content: [
    '--no-heading',
    '--with-filename',
    '--color=never',
    '--field-match-separator=\\x00:',
    '--field-context-separator=\\x00-',
  ],
  files_with_matches: ['--files-with-matches', '--null', '--color=never'],
  count: ['--count', '--with-filename', '--null', '--color=never'],
};

function contentFlags(wanted: Wanted): readonly string[] {
  const { '-A': after = wanted['-C'] ?? 0, '-B': before = wanted['-C'] ?? 0 } = wanted;
  return [
    wanted['-n'] ? '--line-number' : '--no-line-number',
    `--after-context=${Math.floor(after)}`,
    `--before-context=${Math.floor(before)}`,
  ];
}
