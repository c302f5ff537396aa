import { type Pattern, replyWith } from '../pattern.js';
import { styleOf } from '../reply-style.js';

/** What it is, and how to have something better. */
export const selfDescription =
  'I am the embedded offline model of Groundcrew: I follow simple instructions by fixed patterns, and this one is beyond me. For real answers set OPENAI_API_KEY or ANTHROPIC_API_KEY, or give the session a `provider` (docs/models.md). "Help" tells what I can do.';

const abilities =
  'I can do sums ("What is 1+1?"), say what you tell me ("Reply with exactly: ready"), call the tools I am offered ("Use the tool lookup with key \'a\'"), run commands and read or change files where such tools are there, and remember what you said.';

/** Greetings, thanks, who and when. */
export const smallTalk: readonly Pattern[] = [
  {
    example: 'What is your name?',
    when: /\bwhat(?:'s| is) your (?:\w+ )?name\b|\bwhat are you called\b/i,
    reply: (_, __, { system }) =>
      replyWith(`My name is ${styleOf(system).name ?? 'Offline, the embedded model of Groundcrew'}.`),
  },
  {
    example: 'Who are you?',
    when: /\b(?:who|what)(?: model| kind of model)? are you\b|\bintroduce yourself\b|\btell me about yourself\b/i,
    reply(_, __, { system }) {
      const { name } = styleOf(system);
      const what =
        'the embedded offline model of Groundcrew, which follows simple instructions by fixed patterns';
      return replyWith(name === undefined ? `I am ${what}.` : `I am ${name}, played by ${what}.`);
    },
  },
  {
    example: 'Help',
    when: /^\W*help\W*$|\bwhat can you do\b|\bhow can you help\b/i,
    reply: () => replyWith(abilities),
  },
  {
    example: 'What time is it?',
    when: /\bwhat(?:'s| is)? (?:the )?(?:current )?(?:time|date|day)\b|\bwhat day\b|\btoday's date\b/i,
    reply: (_, __, { now }) => replyWith(now === undefined ? 'I was not told the time.' : `It is ${now}.`),
  },
  {
    example: 'Thanks!',
    when: /^\W*(?:thanks?|thank you|cheers)\b/i,
    reply: () => replyWith('You are welcome.'),
  },
  { example: 'Goodbye', when: /^\W*(?:bye|goodbye|see you)\b/i, reply: () => replyWith('Goodbye!') },
  {
    example: 'Hello',
    when: /^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|ping)\b(?=\W*$|\W+(?:there|groundcrew|how)\b)|^\W*how are you\b/i,
    reply: () => replyWith('Hello! What can I do for you?'),
  },
];
