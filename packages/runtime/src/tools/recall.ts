import { defineTool } from './define-tool.js';
import { optional, text } from './fields.js';
import { type Tool, ToolFailure } from './tool.js';

/** Searches what was said and done in the session, also what the model no longer sees. */
export function recallTool(): Tool {
  const tool = defineTool({
    name: 'recall',
    description:
      'Searches everything said and done in this session, also what was summarized or left out since. Give words to find, or the id of a message to read it whole.',
    fields: {
      query: optional(text('Words that the message has, the rarer the better.')),
      id: optional(text('The id of one message, from a search or a reference.')),
    },
    isRepeatable: true,
    intention: ({ query, id }) => query ?? id,
    prepare: ({ query = '', id }, { recall, agentId }) => {
      if (query.trim() === '' && id === undefined) throw new ToolFailure('Give a query or an id.');
      if (!recall) throw new ToolFailure('Nothing can be recalled here.');
      return {
        type: 'run',
        run: async (signal) => ({ type: 'success', text: await recall({ query, id, agentId }, signal) }),
      };
    },
  });
  return { ...tool, givesWay: true };
}
