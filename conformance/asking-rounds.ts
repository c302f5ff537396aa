import { randomBytes } from 'node:crypto';
import {
  acceptedContent,
  type CallToolResult,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';

/** What a server has answered before it asked for more; clients carry it, and cannot change it. */
interface Round {
  readonly step: number;
}

/** Every server of the process takes what another one has sealed: requests of the newest revision belong to no session. */
const sealed = createRequestStateCodec<Round>({ key: randomBytes(32) });

/** How the server of the fixtures knows its own state again. */
export const requestState = { verify: sealed.verify };

const name = z.object({ name: z.string() });
const askName = inputRequired.elicit({ message: 'What is your name?', requestedSchema: name });
const askRoots = inputRequired.listRoots();
const askModel = (text: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text } }],
    maxTokens: 100,
  });

const done = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/** Tools and a prompt that answer with what they need to know first, and are called again with it. */
export function addAskingRounds(server: McpServer): void {
  const plain = (tool: string, run: (context: ServerContext) => ReturnType<typeof answer>) =>
    server.registerTool(tool, { description: 'Asks first', inputSchema: z.object({}) }, (_, context) =>
      run(context),
    );
  const asking = (tool: string, run: (context: ServerContext) => ReturnType<typeof answer>) =>
    plain(`test_input_required_result_${tool}`, run);
  asking('elicitation', async ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_name', name);
    return given ? done(`Hello, ${given.name}!`) : inputRequired({ inputRequests: { user_name: askName } });
  });
  asking('sampling', (context) =>
    answer(context, { capital_question: askModel('What is the capital of France?') }),
  );
  asking('list_roots', (context) => answer(context, { client_roots: askRoots }));
  asking('multiple_inputs', (context) =>
    answer(
      context,
      { user_name: askName, greeting: askModel('Generate a greeting'), client_roots: askRoots },
      { isSealed: true },
    ),
  );
  for (const tool of ['request_state', 'tampered_state'])
    asking(tool, (context) =>
      answer(context, { confirm: askToConfirm }, { isSealed: true, text: 'state-ok' }),
    );
  asking('multi_round', multiRound);
  asking('capabilities', (context) => answer(context, allowedTo(context)));
  // What the client has not said it can do, the library refuses for the tool.
  plain('test_missing_capability', (context) =>
    answer(context, { greeting: askModel('Generate a greeting') }),
  );
  plain('test_streaming_elicitation', (context) => answer(context, { user_name: askName }));
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks for its context first' },
    async ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_context', topic);
      if (!given) return inputRequired({ inputRequests: { user_context: askTopic } });
      return { messages: [{ role: 'user', content: { type: 'text', text: `About ${given.context}` } }] };
    },
  );
}

const askToConfirm = inputRequired.elicit({
  message: 'Please confirm',
  requestedSchema: z.object({ ok: z.boolean() }),
});
const topic = z.object({ context: z.string() });
const askTopic = inputRequired.elicit({
  message: 'What context should the prompt use?',
  requestedSchema: topic,
});

/** Asks for all of it until all of it is there. */
async function answer(
  context: ServerContext,
  inputRequests: InputRequests,
  { isSealed = false, text = 'done' } = {},
) {
  const { inputResponses = {} } = context.mcpReq;
  const isAnswered = Object.keys(inputRequests).every((key) => key in inputResponses);
  if (isAnswered && (!isSealed || context.mcpReq.requestState<Round>())) return done(text);
  return inputRequired({
    inputRequests,
    ...(isSealed && { requestState: await sealed.mint({ step: 1 }, context) }),
  });
}

async function multiRound(context: ServerContext) {
  const { mcpReq } = context;
  const step = mcpReq.requestState<Round>()?.step ?? 0;
  const color = z.object({ color: z.string() });
  if (step === 2 && acceptedContent(mcpReq.inputResponses, 'step2', color))
    return done('Both rounds are over');
  const isSecond = step === 2 || (step === 1 && acceptedContent(mcpReq.inputResponses, 'step1', name));
  const question: InputRequests = isSecond
    ? {
        step2: inputRequired.elicit({
          message: 'Step 2: What is your favorite color?',
          requestedSchema: color,
        }),
      }
    : { step1: inputRequired.elicit({ message: 'Step 1: What is your name?', requestedSchema: name }) };
  return inputRequired({
    inputRequests: question,
    requestState: await sealed.mint({ step: isSecond ? 2 : 1 }, context),
  });
}

/** Nothing is asked of a client that it has not said it can answer. */
function allowedTo({ mcpReq }: ServerContext): InputRequests {
  // The library's type of the envelope names none of its keys.
  const { [capabilities]: declared = {} } = { ...mcpReq.envelope } as {
    readonly [capabilities]?: ClientCapabilities;
  };
  return {
    ...(declared.elicitation && { user_name: askName }),
    ...(declared.sampling && { greeting: askModel('Generate a greeting') }),
    ...(declared.roots && { client_roots: askRoots }),
  };
}

const capabilities = 'io.modelcontextprotocol/clientCapabilities';
