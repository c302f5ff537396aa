import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientCapabilities,
  type InitializeResponse,
  type McpServer,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk';
import type { ResumeSessionOptions, SessionMetadata } from '@groundcrew/sdk';
import type { EditorContext } from './editor-context.js';
import { EditorSession } from './editor-session.js';
import { editorTools } from './editor-tools.js';
import { mcpServersOf } from './mcp-servers.js';
import { questionHandlers } from './questions.js';

/** How many sessions one page of a list has. */
const pageSize = 50;

/** Where an editor wants a session to work. */
interface Wanted {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[];
  readonly additionalDirectories?: readonly string[];
}

/** Sessions of the runtime as one editor uses them. */
export class EditorAgent {
  private readonly sessions = new Map<string, EditorSession>();
  /** Of each session, what was last begun of opening and closing it. */
  private readonly last = new Map<string, Promise<unknown>>();
  private abilities: ClientCapabilities = {};

  constructor(private readonly context: EditorContext) {}

  /** All that the editor may ask for. */
  app(): AgentApp {
    const { session } = methods.agent;
    return agent({ name: 'groundcrew' })
      .onRequest(methods.agent.initialize, ({ params }) => this.initialize(params.clientCapabilities))
      .onRequest(methods.agent.authenticate, ({ params }) => readable(this.authenticate(params.methodId)))
      .onRequest(session.new, ({ params, client }) => readable(this.create(params, client)))
      .onRequest(session.load, ({ params, client }) =>
        readable(this.inTurn(params, () => this.open(params, { client, replay: true }))),
      )
      .onRequest(session.resume, ({ params, client }) =>
        readable(this.inTurn(params, () => this.open(params, { client, replay: false }))),
      )
      .onRequest(session.list, ({ params }) => readable(this.list(params)))
      .onRequest(session.close, ({ params }) =>
        readable(this.inTurn(params, () => this.close(params.sessionId))),
      )
      .onRequest(session.delete, ({ params }) =>
        readable(this.inTurn(params, () => this.delete(params.sessionId))),
      )
      .onRequest(session.setMode, ({ params }) => readable(this.setMode(params.sessionId, params.modeId)))
      .onRequest(session.setConfigOption, ({ params }) =>
        readable(this.setOption(params.sessionId, params.configId, params.value)),
      )
      .onRequest(session.prompt, async ({ params, signal }) => ({
        stopReason: await this.find(params.sessionId).prompt(params.prompt, signal),
      }))
      .onNotification(session.cancel, ({ params }) => this.sessions.get(params.sessionId)?.cancel());
  }

  private initialize(abilities: ClientCapabilities = {}): InitializeResponse {
    this.abilities = abilities;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'groundcrew', title: 'Groundcrew', version: this.context.version },
      authMethods: [
        {
          id: 'environment',
          name: 'Keys of the environment',
          description:
            'Start the agent with the key of a model service in its environment, or name the service in config.json; `groundcrew doctor` says what is missing. Without one the offline model answers.',
        },
      ],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
      },
    };
  }

  private async authenticate(methodId: string): Promise<Record<string, never>> {
    if (methodId !== 'environment')
      throw RequestError.invalidParams({ methodId }, `there is no way to log in that is named ${methodId}`);
    const missing = await this.context.missingService();
    if (missing !== undefined) throw RequestError.authRequired(undefined, missing);
    return {};
  }

  private async create(wanted: Wanted, client: AgentContext) {
    const made = await this.sessionFor(wanted, client);
    const session = await this.context.client.createSession(made.options);
    return {
      sessionId: session.sessionId,
      ...(await this.add(made.editorSession, session, { replay: false })),
    };
  }

  /** An editor may ask for the next before it has the answer: what is opened twice would be shown twice. */
  private async inTurn<T>({ sessionId }: { readonly sessionId: string }, work: () => Promise<T>): Promise<T> {
    const done = (this.last.get(sessionId) ?? Promise.resolve()).then(work, work);
    this.last.set(sessionId, done);
    try {
      return await done;
    } finally {
      if (this.last.get(sessionId) === done) this.last.delete(sessionId);
    }
  }

  private async open(
    wanted: Wanted & { readonly sessionId: string },
    { client, replay }: { readonly client: AgentContext; readonly replay: boolean },
  ) {
    const { sessionId } = wanted;
    await this.requireStored(sessionId);
    // What is wrong with the request ends nothing that is open.
    const made = await this.sessionFor(wanted, client);
    await this.sessions.get(sessionId)?.close();
    this.sessions.delete(sessionId);
    const session = await this.context.client.resumeSession(sessionId, {
      ...made.options,
      continuePendingWork: true,
    });
    return this.add(made.editorSession, session, { replay });
  }

  private async sessionFor(
    wanted: Wanted,
    editor: AgentContext,
  ): Promise<{ readonly editorSession: EditorSession; readonly options: ResumeSessionOptions }> {
    const { cwd: workingDirectory, mcpServers = [], additionalDirectories = [] } = wanted;
    for (const path of [workingDirectory, ...additionalDirectories]) await requireDirectory(path);
    const { context, abilities } = this;
    const editorSession = new EditorSession({
      editor,
      workingDirectory,
      shown: {
        notices: Boolean(abilities.session?.notices),
        compaction: Boolean(abilities.session?.compaction),
      },
      warn: (message) => context.warn(message),
    });
    const options: ResumeSessionOptions = {
      ...context.defaults,
      ...questionHandlers({
        editor,
        abilities,
        workingDirectory,
        approvals: context.approvals,
        session: () => editorSession.known,
        ready: () => editorSession.ready,
      }),
      tools: editorTools({
        editor,
        abilities,
        workingDirectory,
        ready: () => editorSession.ready,
        isLive: (toolCallId) => editorSession.isLive(toolCallId),
        showTerminal: (...call) => editorSession.showTerminal(...call),
      }),
      streaming: true,
      workingDirectory,
      ...(additionalDirectories.length > 0 && { additionalDirectories: [...additionalDirectories] }),
      ...(mcpServers.length > 0 && { mcpServers: mcpServersOf(mcpServers) }),
      onEvent: editorSession.receive,
    };
    return { editorSession, options };
  }

  private async add(
    editorSession: EditorSession,
    session: Parameters<EditorSession['attach']>[0],
    how: { readonly replay: boolean },
  ) {
    await this.context.opened(session);
    await editorSession.attach(session, how);
    this.sessions.set(session.sessionId, editorSession);
    const { settings } = editorSession;
    const answer = { modes: await settings.modes(), configOptions: await settings.options() };
    editorSession.announce();
    return answer;
  }

  private async list({ cwd, cursor }: { readonly cwd?: string | null; readonly cursor?: string | null }) {
    const all = await this.context.client.listSessions(cwd ? { workingDirectory: cwd } : {});
    const after = cursor ? all.findIndex(({ sessionId }) => sessionId === cursor) : -1;
    if (cursor && after < 0) throw RequestError.invalidParams({ cursor }, 'the cursor is not known');
    const page = all.slice(after + 1, after + 1 + pageSize);
    const last = page.at(-1);
    const hasMore = after + 1 + pageSize < all.length;
    return { sessions: page.map(infoOf), ...(hasMore && last && { nextCursor: last.sessionId }) };
  }

  private async close(sessionId: string): Promise<Record<string, never>> {
    await this.find(sessionId).close();
    this.sessions.delete(sessionId);
    return {};
  }

  /** What is not there any more is deleted already. */
  private async delete(sessionId: string): Promise<Record<string, never>> {
    await this.sessions.get(sessionId)?.close();
    this.sessions.delete(sessionId);
    if (await this.context.client.getSessionMetadata(sessionId))
      await this.context.client.deleteSession(sessionId);
    return {};
  }

  private async setMode(sessionId: string, modeId: string): Promise<Record<string, never>> {
    await this.find(sessionId).settings.setMode(modeId);
    return {};
  }

  private async setOption(sessionId: string, configId: string, value: string | boolean) {
    const { settings } = this.find(sessionId);
    await settings.set(configId, value);
    return { configOptions: await settings.options() };
  }

  private find(sessionId: string): EditorSession {
    const found = this.sessions.get(sessionId);
    if (!found) throw RequestError.sessionNotFound(sessionId);
    return found;
  }

  private async requireStored(sessionId: string): Promise<void> {
    if (!(await this.context.client.getSessionMetadata(sessionId)))
      throw RequestError.sessionNotFound(sessionId);
  }
}

function infoOf({ sessionId, summary, modifiedTime, context }: SessionMetadata) {
  return {
    sessionId,
    cwd: context?.workingDirectory ?? '/',
    updatedAt: modifiedTime.toISOString(),
    ...(summary !== undefined && { title: summary }),
  };
}

async function requireDirectory(path: string): Promise<void> {
  if (!isAbsolute(path)) throw RequestError.invalidParams({ path }, `${path} is no absolute path`);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) throw RequestError.invalidParams({ path }, `there is no directory ${path}`);
}

/** The user of the editor reads why something failed: an error of ours keeps its text. */
async function readable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw RequestError.internalError(undefined, error instanceof Error ? error.message : String(error));
  }
}
