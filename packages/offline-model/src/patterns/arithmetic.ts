import type { Conversation } from '../conversation.js';
import { evaluate, type Fraction, NoValue, readFraction, writeFraction } from '../fraction.js';
import { type Pattern, replyWith } from '../pattern.js';

/** Sums, also about the number last answered. */
export const arithmetic: readonly Pattern[] = [
  {
    example: 'What is (1 + 2) * 3?',
    when: /\d|\b(?:double|twice|triple|half|halve|square|cube|plus|minus|times|divided|add|sum)\b/i,
    reply(_, { text }, conversation) {
      const expressions = expressionsIn(text);
      const earlier = expressions.some((one) => one.includes('@')) ? earlierNumber(conversation) : undefined;
      if (!earlier && expressions.some((one) => one.includes('@')))
        return replyWith('There is no number before this that I could go on from.');
      const bare = bareWish.test(conversation.ask);
      const answers = expressions.flatMap((expression) => answerTo(expression, earlier, bare) ?? []);
      return replyWith(answers.length > 0 ? answers.join('\n') : undefined);
    },
  },
];

const longestExpression = 500;
const bareWish =
  /\b(?:just|only)\b[^.?!]*\b(?:number|result|answer|digits?)\b|\b(?:number|result|answer) only\b/i;

function answerTo(expression: string, earlier: Fraction | undefined, bare: boolean): string | undefined {
  const written = earlier ? expression.replaceAll('@', writeFraction(earlier).slice(2)) : expression;
  try {
    const value = writeFraction(evaluate(expression, earlier));
    return bare ? value.slice(2) : `${written} ${value}`;
  } catch (error) {
    if (!(error instanceof NoValue)) throw error;
    return error.kind === 'undefined' ? `${written} has no value: ${error.message}.` : undefined;
  }
}

const operand = '(-?\\d+(?:\\.\\d+)?|@)';
const smallNumbers = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

/** How sums are said in words, each as it is written in signs; applied in this order. */
const spoken: readonly (readonly [RegExp, string])[] = (
  [
    ['(?<=\\d),(?=\\d{3}\\b)', ''],
    ...smallNumbers.map((word, number): [string, string] => [`\\b${word}\\b`, String(number)]),
    [
      '\\b(?:that|it|this|(?:the|your) (?:last |previous )?(?:result|answer|number|sum))\\b(?! (?:is|of)\\b)',
      '@',
    ],
    ['[×·]|(?<=[\\d)] ?)x(?= ?[\\d(])', '*'],
    ['÷', '/'],
    ['−', '-'],
    ['\\*\\*', '^'],
    [`\\b(?:the )?(?:square root of|sqrt(?: of)?)\\s*\\(?${operand}\\)?`, '$1 ^ 0.5'],
    [`\\b(?:double|twice) ${operand}`, '$1 * 2'],
    [`\\btriple ${operand}`, '$1 * 3'],
    [`\\b(?:halve|half(?: of)?) ${operand}`, '$1 / 2'],
    [`\\bsquare ${operand}|${operand} squared`, '$1$2 ^ 2'],
    [`\\bcube ${operand}|${operand} cubed`, '$1$2 ^ 3'],
    [`${operand} ?(?:%|percent) of ${operand}`, '$1 / 100 * $2'],
    [`\\badd ${operand} to ${operand}`, '$2 + $1'],
    [`\\b(?:add|(?:the )?sum of) ${operand} (?:and|plus) ${operand}`, '$1 + $2'],
    [`\\bsubtract ${operand} from ${operand}`, '$2 - $1'],
    [`\\b(?:the )?difference (?:between|of) ${operand} and ${operand}`, '$1 - $2'],
    [`\\b(?:multiply|(?:the )?product of) ${operand} (?:by|and|with) ${operand}`, '$1 * $2'],
    [`\\bdivide ${operand} by ${operand}`, '$1 / $2'],
    ['\\bplus\\b', '+'],
    ['\\bminus\\b', '-'],
    ['\\b(?:times|multiplied by)\\b', '*'],
    ['\\b(?:divided by|over)\\b', '/'],
    ['\\bmod(?:ulo)?\\b', '%'],
    ['\\b(?:raised )?to the power(?: of)?\\b', '^'],
  ] as const
).map(([words, signs]) => [new RegExp(words, 'g'), signs]);

/** What users say around a sum; any other word means that the sentence is about something else. */
const around = new Set(
  "a also and answer are be by calculate can compute could do does equal equals evaluate find following get gives give hello help hey hi how i if in is just let let's made make many me much need next now number of ok okay only out please question quick result show so solve sum tell the then thing to us value want we what what's whats when with work would you your".split(
    ' ',
  ),
);

function expressionsIn(text: string): readonly string[] {
  if (text.length > longestExpression) return [];
  const normalized = text.toLowerCase().replaceAll('’', "'");
  const written = spoken.reduce((sentence, [words, signs]) => sentence.replace(words, signs), normalized);
  const sums: string[] = [];
  const rest = written.replace(/[-+(\d@.][\d@.+\-*/%^()\s]*/g, (run) => {
    if (!/[\d@)]\s*[-+*/%^]\s*[-+(\d@.]/.test(run)) return run;
    sums.push(run.replace(/[\s.]+$/, '').replace(/\s+/g, ' '));
    return ' ';
  });
  const others = rest.match(/[\p{L}\d'@]+/gu) ?? [];
  return others.every((word) => around.has(word)) ? sums : [];
}

/** The latest number among the answers: the one after an equals sign, or else the last. */
function earlierNumber({ answers }: Conversation): Fraction | undefined {
  const number = /([=≈] ?)?(?<![\w.])(-?\d{1,300}(?:\.\d{1,300})?)(?!\w)/g;
  for (const answer of answers.toReversed()) {
    const numbers = [...answer.replace(/(?<=\d),(?=\d{3}\b)/g, '').matchAll(number)];
    const latest = numbers.findLast(([, equals]) => equals) ?? numbers.at(-1);
    if (latest?.[2]) return readFraction(latest[2]);
  }
  return undefined;
}
