import { isAbsolute, sep } from 'node:path';
import { globMatcher } from '../workspace/glob-pattern.js';
import { defineTool } from './define-tool.js';
import { optional, text, texts } from './fields.js';
import { foundFiles, stillThere } from './found-files.js';
import { leaveToRead } from './leave.js';
import { boundOutput } from './output.js';
import { Ripgrep } from './ripgrep.js';
import { requireUnmoved, type SearchRoot, searchRoots } from './search-roots.js';
import type { Tool, ToolContext, ToolResult } from './tool.js';

/** Finds files by the pattern of their names. */
export function globTool(): Tool {
  const ripgrep = new Ripgrep();
  return defineTool({
    name: 'glob',
    description:
      'Finds files by their names: * and ? within a name, ** across directories, [abc] and {a,b}. A pattern without / matches at any depth. Files that ignore files name, and hidden ones unless the pattern names them, are left out.',
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
        questions: leaveToRead(
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
  const matches = globMatcher(pattern);
  const found: string[] = [];
  for (const root of roots) {
    const excluded = (context.searchExclusions?.() ?? []).map((each) => `--glob=${each}`);
    const parameters = ['--files', '--null', ...hiddenFlags(pattern), ...excluded, '--', root.name];
    const { stdout } = await ripgrep.run(parameters, context, signal);
    const names = stdout.toString().split('\0').slice(0, -1);
    const matching = names.filter((name) => matches(below(root.name, name)));
    const files = await stillThere(foundFiles(matching, [root], context));
    found.push(...files.map(({ name }) => name).sort());
  }
  await requireUnmoved(roots, context);
  if (found.length === 0) return { type: 'success', text: 'No files matched the pattern.' };
  return { type: 'success', text: await boundOutput([...new Set(found)].join('\n'), context.largeOutput) };
}

/** Hidden files are looked for only by patterns that name them. */
function hiddenFlags(pattern: string): readonly string[] {
  return /(^|[/{,])\.[^./]/.test(pattern) ? ['--hidden', '--glob=!.git'] : [];
}

/** The part of a path that comes after its root, with `/` between names. */
function below(root: string, file: string): string {
  const rest = file.startsWith(root) ? file.slice(root.length) : file;
  return rest.split(sep).join('/').replace(/^\/+/, '') || file;
}
