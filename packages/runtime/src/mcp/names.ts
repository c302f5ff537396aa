import { createHash } from 'node:crypto';

/** A tool as its server calls it. */
export interface RawTool {
  readonly server: string;
  readonly tool: string;
}

/** More than this no model service takes. */
export const longestName = 64;

/**
 * The names under which the model knows these tools, in the same order: `<server>-<tool>` in the letters that services take.
 * Where that is too long, or is another one's name, a few letters of a digest of both names distinguish them: the same tools
 * get the same names in every process.
 */
export function namesFor(
  tools: readonly RawTool[],
  taken: ReadonlySet<string> = new Set(),
): readonly string[] {
  const plain = tools.map(({ server, tool }) => `${server}-${tool}`);
  const bases = plain.map((name) => name.replace(/[^a-zA-Z0-9_-]/g, '-'));
  const counts = new Map<string, number>();
  for (const base of bases) counts.set(base, (counts.get(base) ?? 0) + 1);
  return bases.map((base, index) => {
    const tool = tools[index];
    if (!tool) return base;
    // Of several, the one that was spelt so keeps it.
    const isItsOwn = counts.get(base) === 1 || (plain[index] === base && isFirst(plain, index));
    if (base.length <= longestName && isItsOwn && !taken.has(base)) return base;
    return `${base.slice(0, longestName - digestLetters - 1)}-${digestOf(tool)}`;
  });
}

const digestLetters = 8;

function isFirst(names: readonly string[], index: number): boolean {
  return names.indexOf(names[index] ?? '') === index;
}

function digestOf({ server, tool }: RawTool): string {
  return createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, digestLetters);
}
