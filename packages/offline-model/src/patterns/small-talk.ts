import { mannerOf } from '../manner.js';
import { type Pattern, say } from '../pattern.js';

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
      say(`My name is ${mannerOf(system).name ?? 'Offline, the embedded model of Groundcrew'}.`),
  },
  {
    example: 'Who are you?',
    when: /\b(?:who|what)(?: model| kind of model)? are you\b|\bintroduce yourself\b|\btell me about yourself\b/i,
    reply(_, __, { system }) {
      const { name } = mannerOf(system);
      const what =
        'the embedded offline model of Groundcrew, which follows simple instructions by fixed patterns';
      return say(name === undefined ? `I am ${what}.` : `I am ${name}, played by ${what}.`);
    },
  },
  {
    example: 'Help',
    when: /^\W*help\W*$|\bwhat can you do\b|\bhow can you help\b/i,
    reply: () => say(abilities),
  },
  {
    example: 'What time is it?',
    when: /\bwhat(?:'s| is)? (?:the )?(?:current )?(?:time|date|day)\b|\bwhat day\b|\btoday's date\b/i,
    reply: (_, __, { now }) => say(now === undefined ? 'I was not told the time.' : `It is ${now}.`),
  },
  { example: 'Thanks!', when: /^\W*(?:thanks?|thank you|cheers)\b/i, reply: () => say('You are welcome.') },
  { example: 'Goodbye', when: /^\W*(?:bye|goodbye|see you)\b/i, reply: () => say('Goodbye!') },
  {
    example: 'Hello',
    when: /^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|ping)\b(?=\W*$|\W+(?:there|groundcrew|how)\b)|^\W*how are you\b/i,
    reply: () => say('Hello! What can I do for you?'),
  },
];
