import { defineTool } from './define-tool.js';
import { choice, flag, type Input, number, optional, text, texts } from './fields.js';
import { renamedBlock, sortedLines } from './grep-output.js';
import { nameFlags, type SearchPlace, type SearchTask, searchEach, searchWhole } from './grep-search.js';
import { permissionToRead } from './permission-questions.js';
import { Ripgrep } from './ripgrep.js';
import { requireUnmoved, searchRoots, shownPath } from './search-roots.js';
import type { Tool, ToolResult } from './tool.js';

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

async function search(wanted: Wanted, where: SearchPlace, signal: AbortSignal): Promise<ToolResult> {
  const { output_mode: mode = defaultMode, head_limit: limit = 0 } = wanted;
  const { before, after } = contextLines(wanted);
  const task: SearchTask = {
    mode,
    limit,
    placeFlags: placeFlags(wanted),
    textFlags: textFlags(wanted),
    modeFlags: modeFlags(wanted),
  };
  const { blocks: found, isCut } =
    (await searchWhole(task, where, signal)) ?? (await searchEach(task, where, signal));
  await requireUnmoved(where.roots, where.context);
  const blocks = found.map((block) => renamedBlock(block, shownPath(block.path, where.roots)));
  if (blocks.length === 0) return { type: 'success', text: 'No matches found.' };
  const all = sortedLines(blocks, {
    mark: mode === 'count' ? ':' : '',
    hasGaps: mode === 'content' && before + after > 0,
  });
  return {
    type: 'success',
    text: limit === 0 ? all : all.split('\n').slice(0, limit).join('\n'),
    ...(isCut && { suffix: '\n(There were more matches than could be kept; search more narrowly.)' }),
  };
}

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

function modeFlags(wanted: Wanted): readonly string[] {
  const mode = wanted.output_mode ?? defaultMode;
  if (mode !== 'content') return fieldFlags[mode];
  const { before, after } = contextLines(wanted);
  return [
    ...fieldFlags.content,
    wanted['-n'] ? '--line-number' : '--no-line-number',
    `--after-context=${after}`,
    `--before-context=${before}`,
  ];
}

/** Fields end in NUL, which is in no path and in no text line: it separates a path from what follows. */
const fieldFlags = {
  content: [
    '--no-heading',
    '--with-filename',
    '--color=never',
    '--field-match-separator=\\x00:',
    '--field-context-separator=\\x00-',
  ],
  files_with_matches: nameFlags,
  count: ['--count', '--with-filename', '--null', '--color=never'],
};

function contextLines(wanted: Wanted): { readonly before: number; readonly after: number } {
  const { '-A': after = wanted['-C'] ?? 0, '-B': before = wanted['-C'] ?? 0 } = wanted;
  return { before: Math.floor(before), after: Math.floor(after) };
}
