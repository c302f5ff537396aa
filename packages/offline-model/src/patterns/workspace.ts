import { type MaskedText, quote, unmask } from '../masked-text.js';
import { mentions } from '../mentions.js';
import { type Pattern, replyWith } from '../pattern.js';
import { argumentsOf, fitted } from '../value-type.js';

interface Matched {
  /** The groups of the job's pattern, as they were written. */
  readonly [group: string]: string | undefined;
}

interface Job {
  readonly example: string;
  /** The tools that can do it, best first. */
  readonly tools: readonly string[];
  readonly when: RegExp;
  arguments(matched: Matched, tool: string, sentence: MaskedText): Readonly<Record<string, unknown>>;
}

const path = `(?<path>${quote}|[\\w.~\\\\-]*[./\\\\][\\w.~/\\\\-]*|(?<=(?:file|folder|directory|named|called) )[\\w-]+)`;
const file = `(?:the |a |an |my )?(?:new |text |empty )*(?:file )?(?:named |called |at )?${path}`;
const by = '^(?:please |now |and )*(?:use (?:the )?\\w+(?: tool)? to )?';
const swap = `(?<old>${quote}|\\S+) (?:with|to|by|into) (?<text>${quote}|\\S+)`;
const when = (source: string): RegExp => new RegExp(source, 'is');

const jobs: readonly Job[] = [
  {
    example: 'Run `echo hello`',
    tools: ['bash', 'powershell'],
    when: when(
      `${by}(?:run|execute) (?:(?:the|this) (?=\\w+(?: command)?:? |command))?(?:(?:shell|bash|terminal) )?(?:command:? )?(?!(?:the|an?|my|your|all|some|it|this|that|tools?|both)\\b)(?<command>${quote}|.+?)(?:(?:,| and) (?:tell|show|report|reply|give|print) .*| in (?:the|a) (?:shell|terminal).*)?$`,
    ),
    arguments: ({ command }) => ({ command, description: 'Run a command' }),
  },
  {
    example: 'Fetch https://example.com/a',
    tools: ['web_fetch'],
    when: when(`${by}(?:fetch|get|open|download|read) (?:the )?(?:page |url )?(?:at )?(?<url>https?:\\S+)`),
    arguments: ({ url }) => ({ url }),
  },
  {
    example: "Replace 'red' with 'blue' in colours.txt",
    tools: ['edit'],
    when: when(`\\b(?:replace|change) ${swap} in ${file}`),
    arguments: ({ path: at, old, text }) => ({ path: at, old_str: old, new_str: text }),
  },
  {
    example: "Edit colours.txt: replace 'red' with 'blue'",
    tools: ['edit'],
    when: when(`\\b(?:edit|in|open) ${file}(?:,|:| and| by)? (?:replac|chang)(?:e|ing) ${swap}`),
    arguments: ({ path: at, old, text }) => ({ path: at, old_str: old, new_str: text }),
  },
  {
    example: "Write 'hello' to notes.txt",
    tools: ['create'],
    when: when(`${by}(?:write|save|put) (?<text>${quote}|\\S+) (?:to|into|in) ${file}`),
    arguments: ({ path: at, text }) => ({ path: at, file_text: text }),
  },
  {
    example: "Create a file notes.txt with the content 'hello'",
    tools: ['create'],
    when: when(
      `${by}(?:create|write|make|save) ${file}(?:,? ?(?:with|containing|that says|saying)(?: the| this)?(?: (?:contents?|text|line))?)?:? ?(?<text>${quote}|\\S.*)?$`,
    ),
    arguments: ({ path: at, text = '' }) => ({ path: at, file_text: text }),
  },
  {
    example: 'Find files matching *.ts',
    tools: ['glob'],
    when: when(
      `${by}(?:find|list|show)(?: me)?(?: all)?(?: the)? (?:files? (?:matching|named|called|like) (?<glob>${quote}|\\S+)|(?<star>\\S*\\*\\S*))`,
    ),
    arguments: ({ glob, star }) => ({ pattern: glob ?? star }),
  },
  {
    example: "Search for 'needle' in src/",
    tools: ['grep'],
    when: when(
      `${by}(?:search|grep|look for)(?: for)? (?:the )?(?:word |text |pattern )?(?<needle>${quote}|\\S+)(?: in (?:all )?${file})?`,
    ),
    arguments: ({ needle, path: at }) => ({ pattern: needle, path: at }),
  },
  {
    example: 'List the files in src/',
    tools: ['view', 'glob'],
    when: when(
      `${by}(?:(?:list|show)(?: me)?|(?:what|which))(?: all)?(?: the)? (?:files|contents?|directory|folder)\\b(?:.*? (?:in|of|under) (?:the )?(?:directory |folder )?${path})?`,
    ),
    arguments: ({ path: at = '.' }, tool) => (tool === 'view' ? { path: at } : { pattern: '*', paths: at }),
  },
  {
    example: 'Read lines 2 to 4 of notes.txt',
    tools: ['view'],
    when: when(
      `${by}(?:(?:view|read|open|show|cat|display|print|look at)(?: me)?|what(?:'s| is| does))(?: in)?(?: lines? (?<from>\\d+)(?:(?: to |-| through )(?<to>\\d+))? of)?(?: the)?(?: contents? of)? ${file}`,
    ),
    arguments: ({ path: at, from, to = from }) => ({
      path: at,
      view_range: from && [Number(from), Number(to)],
    }),
  },
  {
    example: "Ask me to choose between 'tea' and 'coffee'",
    tools: ['ask_user'],
    when: when(`${by}ask me (?:to |for |about )?(?<question>.*?)(?: using (?:the )?\\w+(?: tool)?)?\\.?$`),
    arguments({ question }, _, { quotes }) {
      const choices = quotes.map(({ inner }) => inner);
      return { question, choices: choices.length > 1 ? choices : undefined };
    },
  },
];

/** What the built-in tools are for, said in plain words. */
export const workspace: readonly Pattern[] = jobs.map((job) => ({
  example: job.example,
  when: job.when,
  reply({ groups = {} }, sentence, { tools }) {
    if (mentions(sentence, tools).some(({ tool }) => !job.tools.includes(tool.name))) return undefined;
    const tool = job.tools.flatMap((name) => tools.find((one) => one.name === name) ?? []).at(0);
    if (!tool) return undefined;
    const matched = Object.entries(groups).map(([name, piece]) => [
      name,
      piece && unmask(unstopped(piece), sentence),
    ]);
    const values = job.arguments(Object.fromEntries(matched), tool.name, sentence);
    const properties = argumentsOf(tool.inputSchema);
    if (!properties.some(({ name }) => values[name] !== undefined)) return undefined;
    return { type: 'call', calls: [{ name: tool.name, arguments: fitted(properties, values) }] };
  },
}));

/** What would take a built-in tool that is not there. */
export const missingWorkspace: readonly Pattern[] = jobs.map(({ example, when: pattern, tools: able }) => ({
  example,
  when: pattern,
  reply: (_, __, { tools }) =>
    tools.some(({ name }) => able.includes(name))
      ? undefined
      : replyWith(`I am offered no tool that could do this; it would take ${able[0]}.`),
}));

function unstopped(piece: string): string {
  return piece.replace(/(?<=[\w*/)])[.,;?]+$/, '');
}
