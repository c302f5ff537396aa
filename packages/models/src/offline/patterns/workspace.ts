import { mentions } from '../mentions.js';
import type { Pattern } from '../pattern.js';
import { plainValue, shapeOf } from '../shape.js';
import { quote, reveal } from '../veil.js';

type Values = Readonly<Record<string, unknown>>;

interface Job {
  readonly example: string;
  /** The tools that can do it, best first. */
  readonly tools: readonly string[];
  readonly when: RegExp;
  /** The arguments by the pattern's groups; none, when the sentence means something else. */
  arguments(said: Readonly<Record<string, string>>, tool: string): Values | undefined;
}

const path = `(?<path>${quote}|[\\w.~\\\\-]*[./\\\\][\\w.~/\\\\-]*|(?<=(?:file|folder|directory|named|called) )[\\w-]+)`;
const file = `(?:the |a |an |my )?(?:new |text |empty )*(?:file )?(?:named |called |at )?${path}`;
const by = '(?:please |now |and )*(?:use (?:the )?\\w+(?: tool)? to )?';
const shells = ['bash', 'powershell'];

const jobs: readonly Job[] = [
  {
    example: 'Run `echo hello`',
    tools: shells,
    when: pattern(`^${by}(?:run|execute) (?:(?:the|this) )?(?:(?:shell|bash|terminal) )?(?:command)?:? ?(?<command>${quote}|\\S.*)$`),
    arguments({ command = '' }) {
      if (/^(?:the|an?|my|your|all|some|it|this|that|these|tools?|both)\b/i.test(command)) return undefined;
      const line = command.replace(/(?:,| and) (?:tell|show|report|reply|give|print|then)\b.*$| in (?:the|a) (?:shell|terminal).*$/is, '');
      return { command: line, description: 'Run a command' };
    },
  },
  {
    example: 'Fetch https://example.com/a',
    tools: ['web_fetch'],
    when: pattern(`^${by}(?:fetch|get|open|download|read) (?:the )?(?:page |url )?(?:at )?(?<url>${quote}|https?:\\S+)`),
    arguments: ({ url = '' }) => (/^(?:https?:|[\uE000-\uF8FF])/.test(url) ? { url } : undefined),
  },
  {
    example: "Replace 'red' with 'blue' in colours.txt",
    tools: ['edit'],
    when: pattern(`(?:^|\\b)(?:replace|change) (?<old>${quote}|\\S+) (?:with|to|by|into) (?<text>${quote}|\\S+) in ${file}`),
    arguments: ({ path: at, old, text }) => ({ path: at, old_str: old, new_str: text }),
  },
  {
    example: "Edit colours.txt: replace 'red' with 'blue'",
    tools: ['edit'],
    when: pattern(`\\b(?:edit|in|open) ${file}(?:,|:| and| by)? (?:replace|replacing|change|changing) (?<old>${quote}|\\S+) (?:with|to|by|into) (?<text>${quote}|\\S+)`),
    arguments: ({ path: at, old, text }) => ({ path: at, old_str: old, new_str: text }),
  },
  {
    example: "Create a file notes.txt with the content 'hello'",
    tools: ['create'],
    when: pattern(
      `^${by}(?:create|write|make|save) ${file}(?:,? ?(?:with|containing|that says|saying|and write)(?: the| this)?(?: (?:content|contents|text|line))?)?:? ?(?<text>${quote}|\\S.*)?$`,
    ),
    arguments: ({ path: at, text = '' }) => ({ path: at, file_text: text }),
  },
  {
    example: "Write 'hello' to notes.txt",
    tools: ['create'],
    when: pattern(`^${by}(?:write|save|put) (?<text>${quote}|\\S+) (?:to|into|in) ${file}`),
    arguments: ({ path: at, text }) => ({ path: at, file_text: text }),
  },
  {
    example: 'Find files matching *.ts',
    tools: ['glob'],
    when: pattern(`^${by}(?:find|list|show)(?: me)?(?: all)?(?: the)? (?:files? )?(?:(?:matching|named|called|like) )?(?<glob>${quote}|\\S*\\*\\S*)`),
    arguments: ({ glob = '' }) => (/[*?]|\.\w+$/.test(glob) ? { pattern: glob } : undefined),
  },
  {
    example: "Search for 'needle' in src/",
    tools: ['grep'],
    when: pattern(`^${by}(?:search|grep|look)(?: the files)?(?: for)? (?:the )?(?:word |text |pattern )?(?<needle>${quote}|\\S+)(?: in (?:all )?${file})?`),
    arguments: ({ needle, path: at }) => ({ pattern: needle, ...(at !== undefined && { path: at }) }),
  },
  {
    example: 'List the files in src/',
    tools: ['view', ...shells],
    when: pattern(`^${by}(?:(?:list|show)(?: me)?|(?:what|which))(?: all)?(?: the)? (?:files|contents?|directory|folder)\\b(?:.*? (?:in|of|under) (?:the )?(?:directory |folder )?${path})?`),
    arguments: ({ path: at = '.' }, tool) => (tool === 'view' ? { path: at } : { command: `ls -a -- '${at.replaceAll("'", "'\\''")}'`, description: 'List a directory' }),
  },
  {
    example: 'Read lines 2 to 4 of notes.txt',
    tools: ['view'],
    when: pattern(
      `^${by}(?:(?:view|read|open|show|cat|display|print|look at)(?: me)?|what(?:'s| is| does))(?: in)?(?: lines? (?<from>\\d+)(?:(?: to |-| through )(?<to>\\d+))? of)?(?: the)?(?: contents? of)? ${file}`,
    ),
    arguments: ({ path: at, from, to = from }) => ({ path: at, ...(from !== undefined && { view_range: [Number(from), Number(to)] }) }),
  },
  {
    example: "Ask me to choose between 'tea' and 'coffee'",
    tools: ['ask_user'],
    when: pattern(`^${by}ask me (?:to |for |about )?(?<question>.*)$`),
    arguments: ({ question = '', ...choices }) => ({ question, ...(Object.keys(choices).length > 0 && { choices: Object.values(choices) }) }),
  },
];
