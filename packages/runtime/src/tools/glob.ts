import { isAbsolute } from 'node:path';
import type { WorkerJobs } from '../exec/worker-jobs.js';
import { globCost, matchingNames } from '../workspace/glob-pattern.js';
import { defineTool } from './define-tool.js';
import { optional, text, texts } from './fields.js';
import { foundFiles, stillThere } from './found-files.js';
import { permissionToRead } from './permission-questions.js';
import { Ripgrep } from './ripgrep.js';
import { requireUnmoved, type SearchRoot, searchRoots, shownPath } from './search-roots.js';
import type { Tool, ToolContext, ToolResult } from './tool.js';

/** Finds files by the pattern of their names. */
export function globTool(): Tool {
  const ripgrep = new Ripgrep();
  return defineTool({
    name: 'glob',
    description:
      'Finds files by their names: * and ? within a name, ** across directories, [abc] and {a,b}. A pattern without / matches at any depth. Files that ignore files name, and hidden ones unless the pattern names them, are left out.',
    changesNothing: true,
    fields: {
      pattern: text('The pattern, such as **/*.ts or README.md.'),
      paths: optional(texts('Where to look; the working directory when left out.')),
    },
    isRepeatable: true,
    intention: ({ pattern }) => pattern,
    prepare: async ({ pattern, paths }, context) => {
      const wanted = splitPattern(pattern);
      const roots = await searchRoots(paths ?? wanted.root, context);
      return {
        type: 'run',
        questions: permissionToRead(
          roots.map((root) => root.place),
          ({ path }) => `Search for files matching pattern in: ${path}`,
        ),
        run: (signal) => find(wanted.pattern, { roots, context, ripgrep }, signal),
      };
    },
  });
}

/** A pattern that leads away from the working directory is looked for where it leads to. */
function splitPattern(pattern: string): { readonly pattern: string; readonly root?: string } {
  const plain = pattern.replace(/^(\.\/)+/, '');
  if (!isAbsolute(plain) && !plain.startsWith('../')) return { pattern: plain };
  const names = plain.split('/');
  const firstWild = names.findIndex((name) => /[*?[{]/.test(name));
  const fixed = firstWild === -1 ? names.length - 1 : firstWild;
  return { root: names.slice(0, fixed).join('/') || '/', pattern: names.slice(fixed).join('/') };
}

async function find(
  pattern: string,
  where: {
    readonly roots: readonly SearchRoot[];
    readonly context: ToolContext;
    readonly ripgrep: Ripgrep;
  },
  signal: AbortSignal,
): Promise<ToolResult> {
  const { roots, context, ripgrep } = where;
  const found: string[] = [];
  for (const root of roots) {
    const excluded = (context.searchExclusions?.() ?? []).map((each) => `--glob=${each}`);
    const parameters = ['--files', '--null', ...hiddenFlags(pattern), ...excluded, '--', root.name];
    const { stdout } = await ripgrep.run(parameters, context, signal);
    const names = await matching({ pattern, root: root.name, listed: stdout }, context, signal);
    for (const { name } of await stillThere(foundFiles(names, [root], context)))
      found.push(shownPath(name, [root]));
  }
  await requireUnmoved(roots, context);
  if (found.length === 0) return { type: 'success', text: 'No files matched the pattern.' };
  return { type: 'success', text: [...new Set(found)].join('\n') };
}

/** Hidden files are looked for only by patterns that name them. */
function hiddenFlags(pattern: string): readonly string[] {
  return /(^|[/{,])\.[^./]/.test(pattern) ? ['--hidden', '--glob=!.git'] : [];
}

/** In a worker where it could take long: names and patterns may be many, and their work is the product. */
async function matching(
  search: WorkerJobs['glob']['input'],
  { jobs }: ToolContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (globCost(search.pattern) * search.listed.byteLength < mostAtOnce) return matchingNames(search);
  return jobs.run('glob', search, { milliseconds: 20_000 }, signal);
}

const mostAtOnce = 4 * 1024 * 1024;
