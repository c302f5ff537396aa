import type { ToolSpec } from '@groundcrew/models';
import { readArguments, wordsOf } from '../arguments.js';
import type { Conversation } from '../conversation.js';
import { type MaskedText, unmask } from '../masked-text.js';
import { type Mention, mentions } from '../mentions.js';
import { type Pattern, type PlannedCall, type Reply, replyWith } from '../pattern.js';
import { argumentsOf } from '../value-type.js';

/** Tools that are called by name, one or several at once. */
export const namedTools: readonly Pattern[] = [
  {
    example: "Use the tool lookup with key 'a' and table 'b', then reply with the result",
    when: /\S/,
    reply(_, sentence, conversation) {
      const named = mentions(sentence, conversation.tools);
      const calls = named.map(({ tool }, index) =>
        callOf(tool, regionOf(sentence, named, index), conversation),
      );
      const meant = calls.filter(
        ({ isComplete }, index) =>
          isComplete || !calls.some((other, at) => at < index && other.name === calls[index]?.name),
      );
      return callAll(meant);
    },
  },
];

/** A tool that is not named but clearly meant: every significant word of its name is there, and so is all it needs. */
export const meantTools: readonly Pattern[] = [
  {
    example: "What's the weather in Paris?",
    when: /^(?!\s*(?:the|i|we|my|it|thanks?|thank|why)\b)(?!.*\b(?:don't|do not|never|without|did|how do)\b)/is,
    reply(_, sentence, conversation) {
      const words = wordsOf(sentence.text.toLowerCase()).map(stem);
      const ranked = conversation.tools
        .filter(({ name }) => !builtIn.has(name))
        .map((tool) => ({
          tool,
          keywords: wordsOf(tool.name)
            .map((word) => stem(word.toLowerCase()))
            .filter((word) => !plainWords.has(word)),
        }))
        .filter(({ keywords }) => keywords.length > 0 && keywords.every((word) => words.includes(word)))
        .toSorted((one, other) => other.keywords.length - one.keywords.length);
      const [best, second] = ranked;
      if (!best || best.keywords.length === second?.keywords.length) return undefined;
      const call = callOf(best.tool, sentence, conversation);
      return call.unsaid === 0 ? callAll([call]) : undefined;
    },
  },
];

/** Tools that are asked about. */
export const aboutTools: readonly Pattern[] = [
  {
    example: 'Which tools do you have?',
    when: /\b(?:what|which|list)\b.*\btools\b/i,
    reply: (_, __, { tools }) =>
      replyWith(
        tools.length === 0 ? 'I am offered no tools.' : `I am offered these tools: ${namesOf(tools)}.`,
      ),
  },
  {
    example: 'What does the tool lookup do?',
    when: /\bwhat does (?:the )?(?:tool )?(\S+?)(?: tool)? do\b/i,
    reply([, name = ''], sentence, { tools }) {
      const tool = tools.find((one) => one.name === unmask(name, sentence));
      return tool && replyWith(`${tool.name}: ${tool.description}`);
    },
  },
];

/** Tools that are not there. */
export const missingTools: readonly Pattern[] = [
  {
    example: 'Use the tool teleport',
    when: /\b(?:use|call|invoke|run)\s+(?:the\s+)?(?:tools?\s+(\S+)|([\w-]+)\s+tool\b|(\w+_\w+))/i,
    reply(match, sentence, { tools, results }) {
      const name = unmask((match[1] ?? match[2] ?? match[3] ?? '').replace(/[.,;?!]+$/, ''), sentence);
      const search = tools.some((tool) => tool.name === searchTool) && !results.some(isSearch);
      if (search) return { type: 'call', calls: [{ name: searchTool, arguments: { query: name } }] };
      const offered = tools.length === 0 ? 'I am offered none.' : `I am offered: ${namesOf(tools)}.`;
      return replyWith(`I have no tool named ${name}. ${offered}`);
    },
  },
];

/** What finds tools that are not offered in full. */
const searchTool = 'tool_search';

/** The model looked for a tool that it was not offered. */
export function isSearch({ name }: { readonly name: string }): boolean {
  return name === searchTool;
}

const plainWords = new Set(
  'get fetch lookup look up find do run tool my the a an call make perform read show check list search current info of for to by in'.split(
    ' ',
  ),
);

/** Their names are everyday words; they are called by name or by what they are for. */
const builtIn = new Set(
  'bash read_bash stop_bash list_bash powershell view create edit web_fetch skill sql read_agent list_agents write_agent grep glob task ask_user exit_plan_mode task_complete'.split(
    ' ',
  ),
);

function stem(word: string): string {
  return word.length > 3 ? word.replace(/(?:ing|s)$/, '') : word;
}

function namesOf(tools: readonly ToolSpec[]): string {
  return tools.map(({ name }) => name).join(', ');
}

interface ReadCall extends PlannedCall {
  readonly isComplete: boolean;
  readonly unsaid: number;
}

function callOf({ name, inputSchema }: ToolSpec, region: MaskedText, { results }: Conversation): ReadCall {
  const properties = argumentsOf(inputSchema);
  const { values, unsaid } = readArguments(properties, region, results.at(-1)?.text);
  const required = properties.filter((property) => property.required).length;
  return {
    name,
    arguments: values,
    isComplete: Object.keys(values).length > required || unsaid < required,
    unsaid,
  };
}

function callAll(calls: readonly PlannedCall[]): Reply | undefined {
  if (calls.length === 0) return undefined;
  return { type: 'call', calls: calls.map(({ name, arguments: values }) => ({ name, arguments: values })) };
}

/** What is said about one of the tools: up to the next one, or all of it when there is one; in a list the last part counts for all. */
function regionOf(sentence: MaskedText, named: readonly Mention[], index: number): MaskedText {
  const { text } = sentence;
  const [mention, next] = [named[index], named[index + 1]];
  if (!mention) return { ...sentence, text: '' };
  const after = text.slice(mention.end, next?.start);
  if (next && /^(?:[\s,&]|\b(?:and|tools?|the|both|then|call|use|with)\b)*$/i.test(after))
    return regionOf(sentence, named, index + 1);
  const before = named.length === 1 ? `${text.slice(0, mention.start)} ` : '';
  return { ...sentence, text: `${before}${after}`.replace(lead, '').replace(tail, '') };
}

const lead =
  /^\s*(?:please\s+)?(?:use|call|invoke|run)?\s*(?:the\s+)?(?:tools?|functions?)?\s*(?:tool|function)?\b/i;
const tail =
  /(?:,|\band\b)\s*(?:please\s+)?(?:reply|respond|tell|report|show|give|answer|let me know|print|return)\b[\s\S]*$/i;
