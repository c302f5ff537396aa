import type { ToolSpec } from '@groundcrew/models';
import type { MaskedText } from './masked-text.js';

export interface Mention {
  readonly tool: ToolSpec;
  readonly start: number;
  readonly end: number;
}

/** Where a sentence names tools it is offered, in order; a tool it says not to use is not among them. */
export function mentions({ text, quotes }: MaskedText, tools: readonly ToolSpec[]): readonly Mention[] {
  const found = tools.flatMap((tool) => {
    if (tool.name === '') return [];
    const quoted = quotes.flatMap(({ inner }, index) =>
      inner === tool.name ? [String.fromCharCode(0xe000 + index)] : [],
    );
    return [tool.name, ...quoted].flatMap((name) =>
      places(name, text).map((start) => ({ tool, start, end: start + name.length })),
    );
  });
  const ordered = found.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const kept: Mention[] = [];
  for (const mention of ordered) {
    const previous = kept.at(-1);
    if (previous && mention.start < previous.end) continue;
    if (isMeant(mention, { text, previous })) kept.push(mention);
  }
  return kept;
}

function places(name: string, text: string): readonly number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + name.length)) {
    const [before = '', after = ''] = [text[at - 1], text[at + name.length]];
    if (!/[\w-]/.test(before) && !/[\w-]/.test(after)) starts.push(at);
  }
  return starts;
}

interface Neighbours {
  readonly text: string;
  readonly previous: Mention | undefined;
}

/** A name that is also a word, or quoted, has to be called a tool, or its use requested. */
function isMeant({ tool, start, end }: Mention, { text, previous }: Neighbours): boolean {
  const before = text.slice(Math.max(0, start - 60), start);
  const isDistinct = /[_\d-]|\p{Ll}\p{Lu}/u.test(tool.name) && end - start > 1;
  if (
    /\b(?:don't|do not|never|without|not) (?:use|using|call|calling|invoke|run)(?:ning)? (?:the )?(?:tool )?$/i.test(
      before,
    )
  )
    return false;
  if (isDistinct) return !/^\s*(?:what|why|how|when|who|where)\b(?!.*\b(?:use|using|with)\b)/i.test(text);
  if (/^\s*(?:tool|function)s?\b/i.test(text.slice(end))) return true;
  if (/\b(?:tools?|functions?|use|using|call|invoke)\s+(?:the\s+|both\s+|tools?\s+)*$/i.test(before))
    return true;
  const isListed = previous !== undefined && /(?:\band|,|&)\s+(?:the\s+|tool\s+)*$/i.test(before);
  return isListed && /^\s*(?:$|[,.;?!&]|(?:and|with|for|on|to|at|in|then)\b)/i.test(text.slice(end));
}
