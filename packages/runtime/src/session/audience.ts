import { isDeepStrictEqual } from 'node:util';
import type { EventType } from '@groundcrew/protocol';
import { type CanvasProvider, discoveredOf } from '../canvases/session-canvases.js';
import type { FactoryProvider } from '../factories/factory-host.js';
import { guardedPoints } from '../hooks/guard-points.js';
import { clientHooks, type HookOptions, type HookSource } from '../hooks/hooks.js';
import type { PublishedEvent } from '../log/published-event.js';
import type { GuardPoint } from '../log/recorded-guard.js';
import type { SessionLog } from '../log/session-log.js';
import type { UnaskedCalls } from '../permissions/policy.js';
import type { SectionTexts } from '../prompt/prompt-writer.js';
import { type AskedClient, ClientGone } from '../questions/asked-client.js';
import type { ToolDeclaration } from '../tools/external.js';
import type { ListedTools } from '../tools/tool-source.js';
import type { Planner } from '../turn/planner.js';

/** One client's share in a session: what it receives and what it brings. */
export interface Attachment extends AskedClient {
  readonly tools: readonly ToolDeclaration[];
  /** Slash commands this client runs. */
  readonly commands: readonly ClientCommand[];
  /** This client can show forms. */
  readonly elicitation: boolean;
  /** This client answers permission requests. */
  readonly requestPermission: boolean;
  /** This client answers questions of the agent. */
  readonly requestUserInput: boolean;
  /** This client says what follows a plan. */
  readonly requestExitPlanMode: boolean;
  /** How the hooks of this client are treated; absent when it has none. */
  readonly hooks?: HookOptions;
  /** This client says whether another model may answer while one is rate limited. */
  readonly requestAutoModeSwitch: boolean;
  /** How long this client may take to rewrite sections of the system prompt; absent when it rewrites none. */
  readonly transformMs?: number;
  /** Model services whose tokens this client gives. */
  readonly tokenProviders: readonly string[];
  /** Sessions of this client have `report_intent`, the tool by which a model announces its next step. */
  readonly reportsIntent: boolean;
  /** What runs unasked while no attached client answers permission requests. */
  readonly unasked?: UnaskedCalls;
  /** Canvases that this client shows, under the name of what brings them. */
  readonly canvases?: Omit<CanvasProvider, 'ask'>;
  /** This client has a place where canvases are seen. */
  readonly rendersCanvases?: boolean;
  /** Factories whose bodies this client runs. */
  readonly factories?: FactoryProvider['factories'];
  /** What sub-agents stream is not sent to this client; what comes of it is. */
  readonly hidesAgentStreams?: boolean;
  /** This client stores the files of the session. */
  readonly storesFiles?: boolean;
  /** This client gives the session's GitHub token. */
  readonly gitHubGrant?: GitHubGrant;
  receive(published: PublishedEvent): void;
}

/** Gives a session's GitHub token anew when the last one is about to end. */
interface GitHubGrant {
  renew(): Promise<void>;
  close(): void;
}

/** A slash command that some client runs. */
export interface ClientCommand {
  readonly name: string;
  readonly description?: string;
}

/** Two clients want to serve a tool of the same name. */
export class ToolClash extends Error {
  override readonly name = 'ToolClash';

  constructor(toolName: string) {
    super(`External tool name clash: ${toolName} already registered by another connection`);
  }
}

/** The clients attached to a session, in the order they came. */
export class Audience {
  private readonly attachments = new Map<string, Attachment>();
  /** Clients that answer the event of a question about another model, by handle. */
  private readonly directSwitchers = new Map<string, string>();
  private readonly watchers = new Set<(published: PublishedEvent) => void>();

  get size(): number {
    return this.attachments.size;
  }

  /** Any attached client answers permission requests. */
  get answersPermissions(): boolean {
    return this.some((attachment) => attachment.requestPermission);
  }

  /** Any attached client answers questions of the agent. */
  get answersQuestions(): boolean {
    return this.some((attachment) => attachment.requestUserInput);
  }

  /** Any attached client says what follows a plan. */
  get answersPlans(): boolean {
    return this.some((attachment) => attachment.requestExitPlanMode);
  }

  /** What the hooks of attached clients decide about; undefined when none has hooks. */
  get guardedPoints(): readonly GuardPoint[] | undefined {
    return guardedPoints([...this.attachments.values()].flatMap(({ hooks }) => hooks ?? []));
  }

  /** Any attached client can show forms. */
  get showsForms(): boolean {
    return this.some((attachment) => attachment.elicitation);
  }

  /** Any attached client has a place where canvases are seen. */
  get rendersCanvases(): boolean {
    return this.some((attachment) => attachment.rendersCanvases === true);
  }

  /** The client that stores the files of the session; the one that came last, if there are several. */
  get fileHost(): AskedClient | undefined {
    return [...this.attachments.values()].findLast(({ storesFiles }) => storesFiles);
  }

  /** Clients that bring canvases. */
  canvasProviders(): readonly CanvasProvider[] {
    return [...this.attachments.values()].flatMap(({ canvases, ask }) =>
      canvases ? [{ ...canvases, ask }] : [],
    );
  }

  /** Clients that run bodies of factories. */
  factoryProviders(): readonly FactoryProvider[] {
    return [...this.attachments.values()].flatMap(({ clientId, factories, ask }) =>
      factories ? [{ clientId, factories, ask }] : [],
    );
  }

  /** Any attached client has the tool that reports intents. */
  get reportsIntent(): boolean {
    return this.some((attachment) => attachment.reportsIntent);
  }

  /** What runs unasked while no attached client answers permission requests; the widest that one of them has. */
  get unasked(): UnaskedCalls | undefined {
    const all = [...this.attachments.values()].flatMap(({ unasked }) => unasked ?? []);
    return all.find(({ type }) => type === 'all') ?? all[0];
  }

  has(clientId: string): boolean {
    return this.attachments.has(clientId);
  }

  get(clientId: string): Attachment | undefined {
    return this.attachments.get(clientId);
  }

  /** Throws ToolClash when another client has one of the tools. */
  check(attachment: Attachment): void {
    for (const other of this.attachments.values()) {
      if (other.clientId === attachment.clientId) continue;
      const clash = attachment.tools.find((tool) => other.tools.some((taken) => taken.name === tool.name));
      if (clash) throw new ToolClash(clash.name);
    }
  }

  /** Replaces what the same client brought before; throws ToolClash. */
  attach(attachment: Attachment): void {
    this.check(attachment);
    const { clientId, gitHubGrant } = attachment;
    const before = this.attachments.get(clientId)?.gitHubGrant;
    if (before !== gitHubGrant) before?.close();
    this.attachments.set(clientId, attachment);
  }

  /** False when the client was not attached. */
  detach(clientId: string): boolean {
    for (const [handle, owner] of [...this.directSwitchers])
      if (owner === clientId) this.directSwitchers.delete(handle);
    this.attachments.get(clientId)?.gitHubGrant?.close();
    return this.attachments.delete(clientId);
  }

  tools(): readonly ToolDeclaration[] {
    return [...this.attachments.values()].flatMap(toolsOf);
  }

  commands(): readonly ClientCommand[] {
    return [...this.attachments.values()].flatMap(({ commands }) => lastOfEach(commands));
  }

  /** The clients that answer questions of a kind, in the order in which they came. */
  answerersOf(kind: 'user_input' | 'exit_plan_mode'): readonly Attachment[] {
    const flag = kind === 'user_input' ? 'requestUserInput' : 'requestExitPlanMode';
    return [...this.attachments.values()].filter((attachment) => attachment[flag]);
  }

  /** The hooks of clients, in the order in which they came. */
  hookSources(sessionId: string): readonly HookSource[] {
    return [...this.attachments.values()].flatMap((attachment) =>
      attachment.hooks ? [clientHooks(attachment, sessionId, attachment.hooks)] : [],
    );
  }

  /** Some client says whether another model may answer while one is rate limited. */
  get answersModelSwitches(): boolean {
    return this.directSwitchers.size > 0 || this.modelSwitchers().length > 0;
  }

  /** From now on questions about another model are answered from their events, and no client is sent a request. */
  addDirectSwitcher(handle: string, clientId: string): void {
    this.directSwitchers.set(handle, clientId);
  }

  /** False when there is no such handle. */
  removeDirectSwitcher(handle: string): boolean {
    return this.directSwitchers.delete(handle);
  }

  /** The clients that are asked by a request whether another model may answer. */
  modelSwitchers(): readonly Attachment[] {
    if (this.directSwitchers.size > 0) return [];
    return [...this.attachments.values()].filter((attachment) => attachment.requestAutoModeSwitch);
  }

  /** Has the client that came last, of those that transform, rewrite sections of the system prompt. */
  async transform(
    sections: SectionTexts,
    { sessionId, signal }: { readonly sessionId: string; readonly signal: AbortSignal },
  ): Promise<SectionTexts | undefined> {
    for (const attachment of [...this.attachments.values()].reverse()) {
      const { transformMs } = attachment;
      if (transformMs === undefined) continue;
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(transformMs)]);
        return (await attachment.ask('systemMessage.transform', { sessionId, sections }, limit)).sections;
      } catch (error) {
        if (!(error instanceof ClientGone)) throw error;
      }
    }
    return undefined;
  }

  /** Has clients give new GitHub tokens where the last ones are about to end; throws when one is over. */
  async renewGitHubTokens(): Promise<void> {
    for (const { gitHubGrant } of this.attachments.values()) await gitHubGrant?.renew();
  }

  /** Clients that can be asked for the token of a model service, the newest first. */
  tokenGivers(providerName: string): readonly Attachment[] {
    return [...this.attachments.values()]
      .filter(({ tokenProviders }) => tokenProviders.includes(providerName))
      .reverse();
  }

  /** Calls back with what all clients receive, after them; returns what ends that. */
  watch(listener: (published: PublishedEvent) => void): () => void {
    this.watchers.add(listener);
    return () => void this.watchers.delete(listener);
  }

  broadcast(published: PublishedEvent): void {
    for (const attachment of this.attachments.values())
      if (!attachment.hidesAgentStreams || !isAgentStream(published)) attachment.receive(published);
    for (const watcher of this.watchers) watcher(published);
  }

  private some(test: (attachment: Attachment) => boolean): boolean {
    for (const attachment of this.attachments.values()) if (test(attachment)) return true;
    return false;
  }
}

/** Pieces of what will come whole. */
const streamed: ReadonlySet<EventType> = new Set<EventType>([
  'assistant.message_delta',
  'assistant.message_start',
  'assistant.reasoning_delta',
  'assistant.streaming_delta',
  'assistant.tool_call_delta',
]);

function isAgentStream(published: PublishedEvent): boolean {
  return streamed.has(published.type) && published.event.agentId !== undefined;
}

/** How long a client may take to say whether arguments fit its tool. */
const checkMs = 10_000;

/** Of several of one name a client can run one: the last, as a table of its own would keep it. */
function lastOfEach<T extends { readonly name: string }>(list: readonly T[]): readonly T[] {
  return [...new Map(list.map((each) => [each.name, each])).values()];
}

function toolsOf({ tools, ask }: Attachment): readonly ToolDeclaration[] {
  return lastOfEach(tools).map((tool) =>
    tool.checksArguments
      ? { ...tool, checkArguments: (call) => ask('toolArguments.check', call, AbortSignal.timeout(checkMs)) }
      : tool,
  );
}

/** Lets a client come or go, and sends the others which tools, commands and forms came or went with it. */
export function announceChange<T>(
  {
    audience,
    planner,
    sources,
    announcesTools,
    log,
  }: {
    readonly audience: Audience;
    readonly planner: Planner;
    /** Tools that depend on who is attached. */
    readonly sources: readonly ListedTools[];
    /** Other tools are worth an event of their own. */
    readonly announcesTools: boolean;
    /** Absent while the session is not in memory. */
    readonly log: SessionLog | undefined;
  },
  change: () => T,
): T {
  const before = contributions(audience);
  const result = change();
  const after = contributions(audience);
  for (const source of sources) source.changed();
  if (!log) return result;
  if (!isDeepStrictEqual(after.commands, before.commands))
    log.emit({ type: 'commands.changed', data: { commands: after.commands } });
  if (after.showsForms !== before.showsForms)
    log.emit({ type: 'capabilities.changed', data: { ui: { elicitation: after.showsForms } } });
  if (after.rendersCanvases !== before.rendersCanvases)
    log.emit({ type: 'capabilities.changed', data: { ui: { canvases: after.rendersCanvases } } });
  if (!isDeepStrictEqual(after.canvases, before.canvases))
    announceCanvases(after.canvases, before.canvases, log);
  if (announcesTools && !isDeepStrictEqual(after.tools, before.tools))
    log.emit({ type: 'session.tools_updated', data: { model: planner.model(log.state) } });
  return result;
}

function contributions(audience: Audience) {
  const { showsForms, rendersCanvases } = audience;
  const canvases = audience.canvasProviders().flatMap(discoveredOf);
  return { showsForms, rendersCanvases, canvases, tools: audience.tools(), commands: audience.commands() };
}

type Canvases = ReturnType<typeof contributions>['canvases'];

/** Which canvases one may open now, and which open ones lost the client behind them. */
function announceCanvases(after: Canvases, before: Canvases, log: SessionLog): void {
  log.emit({ type: 'session.canvas.registry_changed', data: { canvases: [...after] } });
  for (const { instanceId, extensionId, canvasId } of Object.values(log.state.canvases ?? {})) {
    const had = before.some((canvas) => canvas.canvasId === canvasId);
    if (had && !after.some((canvas) => canvas.canvasId === canvasId))
      log.emit({ type: 'session.canvas.unavailable', data: { instanceId, extensionId, canvasId } });
  }
}
