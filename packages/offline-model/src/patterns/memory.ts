import type { Conversation } from '../conversation.js';
import { unmask } from '../masked-text.js';
import { type Pattern, replyWith } from '../pattern.js';

/** What was said before. */
export const memory: readonly Pattern[] = [
  {
    example: 'What was my first message?',
    when: /\bwhat (?:was|were|is) my (?:very )?(first|last|previous|earlier) (?:message|prompt|question|request)|\bwhat did i (?:just )?(?:say|ask|tell you|write)(?: you)?(?: (before|earlier|first|last))?/i,
    reply([, message, prompt], _, { earlierPrompts }) {
      const asked = (message ?? prompt) === 'first' ? earlierPrompts.at(0) : earlierPrompts.at(-1);
      return replyWith(asked === undefined ? 'This is your first message.' : `You said: ${asked}`);
    },
  },
  {
    example: 'What did I ask you to remember?',
    when: /\b(?:what|which)\b.*\b(?:ask|asked|told|tell|telling) you to remember\b/i,
    reply(_, __, { earlierPrompts }) {
      const noted = earlierPrompts.flatMap((prompt) => remembered.exec(prompt)?.[1] ?? []);
      return replyWith(
        noted.length === 0
          ? 'You have not asked me to remember anything.'
          : `You asked me to remember: ${noted.join('; ')}`,
      );
    },
  },
  {
    example: 'What is my name?',
    when: /\b(?:what(?:'s| is| was| are)|do you (?:know|remember)) my ([\w ]+?)\s*\?*$/i,
    reply([, subject = ''], _, { earlierPrompts }) {
      const facts = earlierPrompts.flatMap((prompt) => [...prompt.matchAll(fact)]);
      const latest = facts.findLast(([, name]) => name?.toLowerCase() === subject.toLowerCase());
      return replyWith(latest ? `Your ${subject} is ${latest[2]}.` : `You have not told me your ${subject}.`);
    },
  },
  {
    example: 'My name is Ada',
    when: /^(?:hi|hello|hey|please|ok|and|remember(?: that)?|[,! ])*\bmy [\w ]{1,40}? is \S|^(?:please )?remember\b.*\S/i,
    reply: (match, sentence) =>
      /\?\s*$/.test(match.input) ? undefined : replyWith(`Noted: ${unmask(match.input, sentence)}`),
  },
];

const fact = /\bmy ([\w ]{1,40}?) (?:is|are) ((?:[^.!?\n,]|[.,](?=\S))+)/gi;
const remembered = /\bremember(?: that| this| the following)?:?\s+([^\n]*[^\n.!])/i;

/** Whether a prompt, as a whole, asks for the summary of a compaction: none of its sentences is a wish of its own. */
export function asksForSummary(prompt: string): boolean {
  return /^please create a detailed summary of the conversation so far/i.test(prompt);
}

/** The summary of a conversation, in the parts that a compaction asks for. */
export function summaryOf({ earlierPrompts, answers }: Conversation): string {
  const list = (texts: readonly string[]): string =>
    texts.map((text) => `- ${text}`).join('\n') || '- nothing yet';
  const parts = {
    overview: `A conversation with the offline model; messages of the user: ${earlierPrompts.length}.`,
    history: `The user said:\n${list(earlierPrompts)}`,
    work_done: `The answers were:\n${list(answers)}`,
    technical_details: 'The offline model answers by patterns; nothing else is known.',
    important_files: 'None are known.',
    next_steps: 'Answer the next message.',
    checkpoint_title: 'Conversation so far',
  };
  return Object.entries(parts)
    .map(([tag, text]) => `<${tag}>\n${text}\n</${tag}>`)
    .join('\n');
}
