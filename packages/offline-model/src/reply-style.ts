import { mask, quote, unmask } from './masked-text.js';

/** How a system message wants to be answered, as far as it asks for a name or a phrase. */
export interface ReplyStyle {
  readonly name?: string;
  /** Said instead of any answer. */
  readonly always?: string;
  readonly start?: string;
  readonly end?: string;
  /** Has to occur somewhere. */
  readonly include?: string;
}

/** Reads instructions about style from a system message; of several of a kind, the last one counts. */
export function styleOf(system: string): ReplyStyle {
  const masked = mask(system);
  const sentences = masked.text
    .split(/\n+|(?<=[.!?])\s+/)
    .filter((sentence) => sentence.length <= longestSentence && !refusal.test(sentence));
  const found = sentences.flatMap((sentence) =>
    wishes.flatMap(([wish, pattern]) => {
      const wanted = pattern.exec(sentence)?.[1];
      return wanted === undefined
        ? []
        : [[wish, unmask(wanted.replace(/(?<=.)[.!?,:]+$/, ''), masked)] as const];
    }),
  );
  return Object.fromEntries(found.filter(([, phrase]) => phrase !== ''));
}

/** The answer as the system message wants it. */
export function inStyle(text: string, { always, start, end, include }: ReplyStyle): string {
  if (always !== undefined) return always;
  const gap = text.includes('\n') ? '\n' : ' ';
  const opened = start === undefined || text.startsWith(start) ? text : `${start}${gap}${text}`;
  const included = include === undefined || opened.includes(include) ? opened : `${opened}${gap}${include}`;
  return end === undefined || included.endsWith(end) ? included : `${included}${gap}${end}`;
}

const longestSentence = 1000;
const refusal = /\b(?:never|don't|do not|avoid)\b/i;
const answer =
  '(?:(?:each|every|all|any|of|your|the|my|single)\\s+)*(?:responses?|answers?|repl(?:y|ies)|messages?|sentences?)';
const label =
  '(?:the\\s+|this\\s+|exact\\s+)*(?:(?:word|phrase|text|string|sentence|sign-off|prefix|suffix|line)s?:?\\s+)?';
const phrase = `${label}(${quote}|[^\\n]+?)`;
const stop = '(?=[.!]?$)';
const wish = (source: string): RegExp => new RegExp(source, 'i');

const wishes: readonly (readonly [keyof ReplyStyle, RegExp])[] = [
  [
    'name',
    wish(
      `\\b(?:your name is|call yourself|you go by|you are (?:called|named))\\s+(?:the name\\s+)?(${quote}|[^,.;\\n]+?)(?=\\s+(?:and|who)\\b|[,.;]|$)`,
    ),
  ],
  [
    'name',
    wish(
      `\\byou are (?:an?|the) [^,.;\\n]*?\\b(?:called|named)\\s+(${quote}|[^,.;\\n]+?)(?=\\s+(?:and|who)\\b|[,.;]|$)`,
    ),
  ],
  [
    'always',
    wish(
      `\\balways (?:reply|respond|answer|say) (?:only |exactly )*(?:with )?(?:only |exactly ?)*:?\\s*(${quote})`,
    ),
  ],
  ['start', wish(`\\b(?:start|begin|prefix|open|preface) ${answer}(?: with)?\\s+${phrase}${stop}`)],
  [
    'start',
    wish(`\\b(?:say|add|write|put|include) ${phrase} (?:at|to) the (?:start|beginning) of ${answer}`),
  ],
  ['end', wish(`\\b(?:end|finish|close|conclude) ${answer} with\\s+${phrase}${stop}`)],
  ['end', wish(`\\b(?:say|add|write|put|include|append) ${phrase} (?:at|to) the end of ${answer}`)],
  [
    'end',
    wish(`\\bat the end of ${answer},? (?:always )?(?:say|add|write|put|include|append)\\s+${phrase}${stop}`),
  ],
  ['include', wish(`\\balways (?:include|mention|add|use)\\s+${phrase}(?= in ${answer}|[.!]?$)`)],
  ['include', wish(`\\b(?:include|mention|use) ${phrase} in (?:each|every|all)\\b`)],
];
