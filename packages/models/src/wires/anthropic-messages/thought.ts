import type { ThoughtBlock } from './schema.js';

/** The thought, if what was kept is one. */
export function readThought(block: Readonly<Record<string, unknown>>): ThoughtBlock | undefined {
  const { type, thinking, signature, data } = block;
  if (type === 'redacted_thinking' && typeof data === 'string') return { type, data };
  if (type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string')
    return { type, thinking, signature };
  return undefined;
}
