import { defineTool } from './define-tool.js';
import { text } from './fields.js';
import type { Tool } from './tool.js';

/** Lets a model of an older client's session say what it is about to do; newer sessions do not have it. */
export function reportIntentTool(): Tool {
  return defineTool({
    name: 'report_intent',
    description: 'Says in a few words what you are about to do, for the user to see.',
    changesNothing: true,
    fields: { intent: text('What you are doing now, in at most four words.') },
    isRepeatable: true,
    isFree: true,
    prepare: () => ({
      type: 'run',
      run: async () => ({ type: 'success', text: 'Intent logged' }),
    }),
  });
}
