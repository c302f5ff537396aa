import type { Document } from 'yaml';
import { eventLoopTurn } from '../event-loop-turn.js';

/** A markdown file with settings on top, between two lines of `---`. */
export interface Frontmatter {
  /** The file has such lines, be there nothing between them. */
  readonly isThere: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** The line of the file that a setting stands in; 1 for one that is not there. */
  lineOf(name: string): number;
}

/** What is wrong with a file, and where. */
export interface FileProblem {
  readonly line: number;
  readonly message: string;
}

/** Longer settings are refused: they are read by everyone who looks for skills or agents. */
const longestSettings = 16 * 1024;

/** Reads the settings of a file; a file without any has an empty set of them. */
export async function readFrontmatter(
  source: string,
): Promise<Frontmatter | { readonly problem: FileProblem }> {
  const text = source.replace(/^\uFEFF/, '');
  const opening = /^---[ \t]*\r?\n/.exec(text);
  if (!opening) return { isThere: false, attributes: {}, body: text, lineOf: () => 1 };
  const rest = text.slice(opening[0].length);
  const closing = /^---[ \t]*(?:\r?\n|$)/m.exec(rest);
  if (!closing) return { problem: { line: 1, message: 'the line --- that ends the frontmatter is missing' } };
  const settings = rest.slice(0, closing.index);
  if (settings.length > longestSettings)
    return { problem: { line: 2, message: `the frontmatter is longer than ${longestSettings} characters` } };
  const read = await readSettings(settings);
  return 'problem' in read
    ? read
    : { ...read, isThere: true, body: rest.slice(closing.index + closing[0].length) };
}

async function readSettings(
  settings: string,
): Promise<Omit<Frontmatter, 'body' | 'isThere'> | { readonly problem: FileProblem }> {
  if (isTooDeep(settings))
    return { problem: { line: 2, message: `the frontmatter is nested more than ${deepest} levels deep` } };
  const yaml = await import('yaml');
  const { parseDocument, LineCounter, isMap, isScalar } = yaml;
  // A project may have hundreds of such files.
  await eventLoopTurn();
  const lineCounter = new LineCounter();
  const document = parseDocument(settings, {
    lineCounter,
    prettyErrors: false,
    merge: false,
    uniqueKeys: false,
  });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line + 1;
  const [error] = document.errors;
  if (error) return { problem: { line: lineAt(error.pos[0]), message: plain(error.message) } };
  const repeated = repeatedKey(document, yaml);
  if (repeated !== undefined)
    return { problem: { line: lineAt(repeated), message: 'Map keys must be unique' } };
  const { contents } = document;
  if (contents === null) return { attributes: {}, lineOf: () => 1 };
  if (!isMap(contents))
    return { problem: { line: 2, message: 'the frontmatter is not a list of `name: value` lines' } };
  const lines = new Map(
    contents.items.flatMap(({ key }) =>
      isScalar(key) && key.range ? [[String(key.value), lineAt(key.range[0])] as const] : [],
    ),
  );
  try {
    const attributes = document.toJS({ maxAliasCount: 10 }) as Readonly<Record<string, unknown>>;
    return { attributes, lineOf: (name) => lines.get(name) ?? 1 };
  } catch (thrown) {
    return {
      problem: { line: 2, message: plain(thrown instanceof Error ? thrown.message : String(thrown)) },
    };
  }
}

function plain(message: string): string {
  return message.split('\n')[0] ?? message;
}

const deepest = 32;

/** What is nested in thousands of levels takes the parser a long time to give up on. */
function isTooDeep(settings: string): boolean {
  let depth = 0;
  for (const [bracket] of settings.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > deepest) return true;
  }
  return inBlocks.test(settings);
}

const inBlocks = new RegExp(`(?:[-?:][ \\t]+){${deepest + 1}}`);

/** Where a key stands that its map has already. The parser itself would compare each key with all others. */
function repeatedKey(
  document: Document.Parsed,
  { visit, isScalar }: typeof import('yaml'),
): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}
