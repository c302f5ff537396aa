import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { ServedSessions } from './served-sessions.js';

const longestPrompt = 1024 * 1024;
const longestWait = 600;
const mostEvents = 200;
const largestPage = 256 * 1024;

/** Sessions as tools, for one host. */
export function sessionServer(sessions: ServedSessions, version: string): McpServer {
  const server = new McpServer(
    { name: 'groundcrew', version, title: 'Groundcrew sessions' },
    { capabilities: { tools: {} }, instructions },
  );
  addWork(server, sessions);
  addDecisions(server, sessions);
  addLooks(server, sessions);
  return server;
}

const instructions = `Sessions of coding agents. start_session begins one, send_prompt gives it more to do, wait returns when it is done or asks
something. A session asks before its tools change anything: show such questions to the user, and answer_question with what the user said.`;

const sessionId = z.string().min(1).max(200).describe('The id that start_session returned');
const prompt = z.string().min(1).max(longestPrompt);

/** Tools that make a session do something. */
function addWork(server: McpServer, sessions: ServedSessions): void {
  server.registerTool(
    'start_session',
    {
      title: 'Start a session',
      description:
        'Starts an agent session, and gives it a prompt if there is one. Returns at once; wait for the answer.',
      inputSchema: z.object({
        prompt: prompt.optional().describe('What the agent is to do'),
        model: z.string().max(200).optional().describe('The model; the default one without it'),
        workingDirectory: z
          .string()
          .max(4096)
          .optional()
          .describe('Where it works; where this server runs without it'),
      }),
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (request) => resultOf(() => sessions.start(request)),
  );
  server.registerTool(
    'send_prompt',
    {
      title: 'Send a prompt',
      description:
        'Gives a session a prompt; while it works, the prompt waits its turn, or with mode immediate is a word into the running one.',
      inputSchema: z.object({ sessionId, prompt, mode: z.enum(['enqueue', 'immediate']).optional() }),
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (request) => resultOf(() => sessions.send(request.sessionId, request.prompt, request.mode ?? 'enqueue')),
  );
}

/** Tools that decide what a session may do. */
function addDecisions(server: McpServer, sessions: ServedSessions): void {
  server.registerTool(
    'answer_question',
    {
      title: 'Answer a question',
      description:
        'Answers what a session asks: a decision for a permission or a plan, words for a question, the content of a form. Only the user may approve.',
      inputSchema: z.object({
        sessionId,
        questionId: z.string().max(100),
        decision: z.enum(['approve', 'deny']).optional(),
        answer: z.string().max(longestPrompt).optional(),
        content: z
          .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
          .optional(),
        feedback: z.string().max(10_000).optional().describe('Why not, for the agent'),
      }),
      annotations: { destructiveHint: true, openWorldHint: true },
    },
    ({ sessionId: id, questionId, ...answer }) => resultOf(() => sessions.answer(id, questionId, answer)),
  );
  server.registerTool(
    'abort_turn',
    {
      title: 'Stop what a session does',
      description: 'Stops the turn of a session; the session stays.',
      inputSchema: z.object({ sessionId }),
      annotations: { destructiveHint: false, idempotentHint: true },
    },
    (request) => resultOf(() => sessions.abort(request.sessionId)),
  );
}

/** Tools that only look. */
function addLooks(server: McpServer, sessions: ServedSessions): void {
  server.registerTool(
    'wait',
    {
      title: 'Wait for a session',
      description:
        'Waits until a session is idle or asks something, or for so many seconds; returns its status, what it said last, and its open questions.',
      inputSchema: z.object({
        sessionId,
        seconds: z.number().min(0).max(longestWait).optional().describe('50 without it'),
      }),
      annotations: { readOnlyHint: true },
    },
    (request, context) =>
      resultOf(() => {
        const milliseconds = (request.seconds ?? 50) * 1000;
        return sessions.wait(
          request.sessionId,
          { milliseconds, report: progress(context) },
          context.mcpReq.signal,
        );
      }),
  );
  server.registerTool(
    'read_events',
    {
      title: 'Read events',
      description:
        'A page of what happened in a session, oldest first; the cursor of one page leads to the next.',
      inputSchema: z.object({
        sessionId,
        cursor: z.string().max(1000).optional(),
        max: z.number().int().min(1).max(mostEvents).optional(),
      }),
      annotations: { readOnlyHint: true },
    },
    (request) =>
      resultOf(async () => {
        const { cursor, max = 50 } = request;
        // Fewer, until they fit: one event may have megabytes.
        for (let count = max; ; count = Math.ceil(count / 4)) {
          const page = await sessions.events(request.sessionId, { cursor, max: count });
          if (count === 1 || JSON.stringify(page.events).length <= largestPage) return bounded(page);
        }
      }),
  );
  server.registerTool(
    'list_sessions',
    {
      title: 'List sessions',
      description: 'Sessions with at least one prompt, the newest first.',
      inputSchema: z.object({ max: z.number().int().min(1).max(100).optional() }),
      annotations: { readOnlyHint: true },
    },
    ({ max = 20 }) => resultOf(async () => ({ sessions: await sessions.list(max) })),
  );
}

function bounded<T extends { readonly events: readonly { readonly id: string; readonly type: string }[] }>(
  page: T,
) {
  if (JSON.stringify(page.events).length <= largestPage) return page;
  return {
    ...page,
    events: page.events.map(({ id, type }) => ({ id, type, data: 'too large to be shown here' })),
  };
}

/** The answer as text and as structure; a failure is an answer too, and the host's model reads why. */
async function resultOf(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    const value = await work();
    const text = JSON.stringify(value);
    return {
      content: [{ type: 'text', text }],
      structuredContent: JSON.parse(text) as Record<string, unknown>,
    };
  } catch (error) {
    return {
      isError: true,
      content: [{ type: 'text', text: error instanceof Error ? error.message : String(error) }],
    };
  }
}

/** Reports what a session does to a host that waits and wants to know. */
function progress({ mcpReq }: ServerContext): (line: string) => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let count = 0;
  return (message) => {
    count += 1;
    const params = { progressToken, progress: count, message };
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
