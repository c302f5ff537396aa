import type { Pinned } from '../log/pinned.js';
import { rulesToList } from './pinned.js';

/** What the session has open besides the conversation. */
export interface OpenWork {
  /** The session's plan: its path and its text. */
  readonly plan?: { readonly path: string; readonly text: string };
  readonly todos: readonly string[];
  readonly questions: readonly string[];
  /** Agents that work in the background. */
  readonly agents?: readonly string[];
}

/** What a model is asked in order to summarise what it has just read. */
export function summaryPrompt(customInstructions: string | undefined): string {
  const wish = customInstructions === undefined ? '' : `\n\nThe user asks besides: ${customInstructions}`;
  return `Please create a detailed summary of the conversation so far. The history is being compacted: this summary, the user's messages and a list of what is open take its place, and the agent that goes on with the work has nothing else.

Write down what was asked, what was done and found, what was decided and why, and what comes next. Keep names, paths, numbers, commands and error messages exactly as they are. Call no tools. Answer with these parts and nothing else:

<overview>What the user wants, in a few sentences.</overview>
<history>What happened, step by step.</history>
<work_done>What was changed: files, commands, results.</work_done>
<technical_details>Facts, decisions, quirks and dead ends that matter.</technical_details>
<important_files>Each file that matters, and why.</important_files>
<next_steps>What is left to do.</next_steps>
<checkpoint_title>Two to six words.</checkpoint_title>${wish}`;
}

/** The message that stands in the place of the history. */
export function compactedMessage(
  summary: string,
  {
    pinned,
    open,
    isPartial,
  }: { readonly pinned: Pinned; readonly open: OpenWork; readonly isPartial: boolean },
): string {
  const opening = isPartial ? 'Some of the conversation history' : 'The conversation history';
  const messages = pinned.messages.map(({ eventId, text, isShort }) =>
    isShort
      ? `<user_message recall="${eventId}">\n${text}\n</user_message>`
      : `<user_message>\n${text}\n</user_message>`,
  );
  const said =
    messages.length === 0
      ? ''
      : `You were originally given instructions from a user over one or more turns. Here were the user messages:\n${messages.join('\n')}\n\n`;
  return `${opening} has been summarized to free up context.\n\n${said}Here is a summary of the prior context:\n<summary>\n${summary}\n</summary>\n${reminder(pinned, open)}`;
}

/** The title that a summary gives itself. */
export function titleOf(summary: string): string {
  const place = titleIn(summary);
  const title = place ? summary.slice(place.from + titleStart.length, place.to - titleEnd.length).trim() : '';
  return title === '' ? 'Checkpoint' : title.replaceAll(/\s+/g, ' ').slice(0, 100);
}

/** A summary without its title, as a checkpoint keeps it. */
export function withoutTitle(summary: string): string {
  const place = titleIn(summary);
  return (place ? summary.slice(0, place.from) + summary.slice(place.to) : summary).trim();
}

const titleStart = '<checkpoint_title>';
const titleEnd = '</checkpoint_title>';

/** Where it stands. A pattern would look for an end behind each beginning, and a model may write very many. */
function titleIn(summary: string): { readonly from: number; readonly to: number } | undefined {
  const from = summary.indexOf(titleStart);
  const end = from < 0 ? -1 : summary.indexOf(titleEnd, from + titleStart.length);
  return end < 0 ? undefined : { from, to: end + titleEnd.length };
}

/** What is kept beside the summary; longer plans are named only, for they can be read. */
function reminder(pinned: Pinned, { plan, todos, questions, agents = [] }: OpenWork): string {
  const parts = [
    block(
      'rules_of_the_user',
      rulesToList(pinned).map(({ text }) => `- ${text}`),
    ),
    block('files_changed', pinned.files.filter(isChanged).map(describeFile)),
    block(
      'files_read',
      pinned.files.filter((file) => !isChanged(file)).map(({ path }) => `- ${path}`),
    ),
    plan ? `<plan path="${plan.path}">\n${beginningOf(plan)}\n</plan>` : '',
    block('todos', firstOf(todos)),
    block('open_questions', firstOf(questions)),
    block('running_agents', firstOf(agents)),
    block('loaded_skills', pinned.skills),
    pinned.earlier > 0 ? `${pinned.earlier} earlier messages of the user are not listed.` : '',
    'Everything that was said and done is kept: the tool recall searches it by words, and opens a message by its id.',
  ];
  return `\n<system_reminder>\n${parts.filter((part) => part !== '').join('\n')}\n</system_reminder>`;
}

const longestPlan = 8000;
const mostLines = 100;
const longestLine = 500;

function beginningOf({ path, text }: { readonly path: string; readonly text: string }): string {
  return text.length <= longestPlan
    ? text
    : `${text.slice(0, longestPlan)}\n[… ${text.length - longestPlan} more characters are in ${path} …]`;
}

/** Lists of open work are bounded; what is left out can be read where it is kept. */
function firstOf(lines: readonly string[]): readonly string[] {
  const shown = lines.slice(0, mostLines).map((line) => line.slice(0, longestLine));
  return lines.length > mostLines ? [...shown, `- and ${lines.length - mostLines} more`] : shown;
}

const isChanged = ({ created, edits }: Pinned['files'][number]) => created || edits > 0;

function describeFile({ path, created, edits }: Pinned['files'][number]): string {
  const done = [...(created ? ['created'] : []), ...(edits > 0 ? [`edited ${edits} ×`] : [])];
  return `- ${path}: ${done.join(', ')}`;
}

function block(tag: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `<${tag}>\n${lines.join('\n')}\n</${tag}>`;
}
