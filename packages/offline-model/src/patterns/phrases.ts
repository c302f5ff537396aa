import { type MaskedText, unmask } from '../masked-text.js';
import { type Pattern, replyWith } from '../pattern.js';

const polite = '^(?:(?:please|now|just|can you|could you|finally|always|only|and)[, ]+)*';
const kind =
  '(?:(?: (?:the|this|these|following|exact|single|one))* (?:words?|text|phrase|string|sentence|letter|message|following))?';

/** Sentences that ask for a text to be repeated literally. */
export const phrases: readonly Pattern[] = [
  {
    example: 'Say "tick" 3 times',
    when: new RegExp(`${polite}(?:say|repeat|write|print|echo) (.+?) (\\d{1,4}) times\\b`, 'is'),
    reply: ([, text = '', times], sentence) =>
      replyWith(Array(Number(times)).fill(unmask(text, sentence)).join(' ')),
  },
  {
    example: 'Reply with exactly: All systems go.',
    when: new RegExp(
      `${polite}(?:reply|respond|output|answer(?= .*\\bwith\\b))(?: back| to me| only| just| with| exactly| precisely| verbatim| nothing but)*${kind}(:?)\\s+(\\S.*)$`,
      'is',
    ),
    reply: ([, colon, text = ''], sentence) => replyWith(wanted(text, sentence, colon === ':')),
  },
  {
    example: 'Say hello',
    when: new RegExp(
      `${polite}(?:say|repeat|echo)(?: after me| back| exactly| only| just)*${kind}(:?)\\s+(\\S.*)$`,
      'is',
    ),
    reply: ([, colon, text = ''], sentence) => replyWith(wanted(text, sentence, colon === ':')),
  },
  {
    example: 'Count to 5',
    when: /\bcount(?: from (\d{1,6}))? (?:up )?to (\d{1,6})\b/i,
    reply([, from = '1', to = '0']) {
      const count = Math.min(Number(to) - Number(from) + 1, longestCount);
      return count < 1
        ? undefined
        : replyWith(Array.from({ length: count }, (_, index) => Number(from) + index).join(', '));
    },
  },
];

const longestCount = 10_000;

/** Words that describe what to say, rather than being it. */
const description =
  /^(?:the|an?|its?|that|this|what|whatever|which|who|why|how|where|when|if|whether|your|my|all|both|any|each|them|some(?:thing)?|anything|nothing|more|in|as|about|to)\b/i;

function wanted(text: string, sentence: MaskedText, isVerbatim: boolean): string | undefined {
  if (/^[\uE000-\uF8FF]/.test(text)) return unmask(text.charAt(0), sentence);
  if (isVerbatim) return unmask(text, sentence);
  if (description.test(text) || / in \p{Lu}\p{Ll}+\W*$/u.test(text)) return undefined;
  const plain = text
    .replace(/,? and (?:nothing|then|stop).*$/is, '')
    .replace(/ in (?:one|1|an?(?: single)?) (?:short )?(?:word|sentence|line)\b.*$/i, '')
    .replace(/^(hello|hi|goodbye) to /i, '$1, ');
  return unmask(plain.replace(/[.?]$|,? please[.?!]*$/i, ''), sentence);
}
