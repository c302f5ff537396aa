import { defineTool } from './define-tool.js';
import { text } from './fields.js';
import type { Tool } from './tool.js';

/** Lets the model say that its task is done; only sessions in autopilot mode have it. */
export function taskCompleteTool(): Tool {
  return defineTool({
    name: 'task_complete',
    description:
      'Says that the task is done. Call it once everything that was asked for is finished and checked, and not before.',
    changesNothing: true,
    isFree: true,
    fields: { summary: text('What was done, in a few sentences.') },
    isRepeatable: true,
    intention: ({ summary }) => summary,
    prepare: ({ summary }, context) => ({
      type: 'run',
      run: async () => {
        context.notify({ type: 'session.task_complete', data: { summary, success: true } });
        return { type: 'success', text: summary };
      },
    }),
  });
}
