import { defineTool } from './define-tool.js';
import { flag, list, optional, text } from './fields.js';
import type { Tool, ToolResult } from './tool.js';
import type { UserAnswer } from './user-question.js';

/** Lets the model ask the user; only sessions with a client that answers have it. */
export function askUserTool(): Tool {
  return defineTool({
    name: 'ask_user',
    description:
      'Asks the user one question and waits for the answer. Use it when you cannot go on without knowing, and give choices where there are a few likely answers.',
    changesNothing: true,
    fields: {
      question: text('The question, short and clear.'),
      choices: optional(list('Answers to choose from.')),
      allow_freeform: optional(
        flag('Whether the user may also answer in words of their own; true unless given.'),
      ),
    },
    intention: ({ question }) => question,
    isFree: true,
    prepare: ({ question, choices, allow_freeform: allowFreeform = true }) => ({
      type: 'ask',
      question: { question, allowFreeform, ...(choices && choices.length > 0 && { choices }) },
    }),
  });
}

/** What the model reads about an answer, or of a question that no user could answer. */
export function resultOfAnswer(answer: UserAnswer | undefined): ToolResult {
  if (!answer) return { type: 'failure', text: unanswered };
  const verb = answer.wasFreeform ? 'responded' : 'selected';
  return { type: 'success', text: `User ${verb}: ${answer.answer}` };
}

const unanswered =
  'The user could not be asked: no client answers questions here. Decide as you think best, and say what you assumed.';
