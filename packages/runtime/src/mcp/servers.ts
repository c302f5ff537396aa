import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import type { EphemeralDraft } from '../log/session-log.js';
import type { Wait } from '../questions/waits.js';
import type { Tool } from '../tools/tool.js';
import type { ToolSource } from '../tools/tool-source.js';
import { type AppToolCall, callForApp } from './app-tool-call.js';
import { ClientAuth } from './client-auth.js';
import { ClientHeaders } from './client-headers.js';
import type { McpServerConfig } from './config.js';
import type { LinkParts } from './link.js';
import { longestName, namesFor } from './names.js';
import type { AuthProbe } from './oauth/auth-probe.js';
import { ServerLogins } from './oauth/logins.js';
import type { TokenBook } from './oauth/token-book.js';
import { plainText } from './plain-text.js';
import { type PromptCommand, promptCommands, promptText } from './prompts.js';
import { McpServer } from './server.js';
import type { McpStatus } from './status.js';
import { mcpTool } from './tool.js';

/** Which servers a session has. */
export interface McpSettings {
  readonly servers: ReadonlyMap<string, McpServerConfig>;
  readonly disabled: readonly string[];
  readonly envValueMode: EnvValueMode;
}

/** Whether values of variables stand for themselves, or may name others as `${NAME}`. */
export type EnvValueMode = 'direct' | 'indirect';

/** What the servers of a session need of it. */
export interface McpHost extends Omit<LinkParts, 'owner' | 'expandsVariables'> {
  readonly clock: Clock;
  directories(): readonly string[];
  /** Sends an event to clients, where the session is in memory. */
  emit(draft: EphemeralDraft): void;
  warn(message: string): void;
  /** Some client wants events of this type. */
  isWanted(eventType: string): boolean;
  /** Where log-ins at servers are kept. */
  tokens(): TokenBook;
  /** Names that tools of others have. */
  takenNames(): ReadonlySet<string>;
}

/** The MCP servers of a session, started side by side when the first turn needs them. */
export class McpServers implements ToolSource {
  readonly kind = 'mcp';
  private readonly servers = new Map<string, McpServer>();
  /** For servers that start from now on. */
  envValueMode: EnvValueMode = 'direct';
  /** What apps of servers may know of the app around them. */
  hostContext: JsonObject = {};
  /** What clients have the model asked for servers, by the ids they gave. */
  readonly samplings = new Map<string, AbortController>();
  readonly auth: ClientAuth;
  readonly headers: ClientHeaders;
  readonly logins: ServerLogins;
  private disabled: readonly string[] = [];
  private readonly listeners = new Set<() => void>();
  /** Ends the waits for servers that are starting. */
  private released = new AbortController();
  private readonly awaited = new Map<McpServer, Wait>();
  private readonly warned = new Set<string>();
  private hasBegun = false;
  private isReported = true;
  /** The directories that servers know of, or can ask for. */
  private roots: readonly string[] = [];

  constructor(
    private readonly host: McpHost,
    settings: McpSettings,
  ) {
    this.auth = new ClientAuth(host);
    this.headers = new ClientHeaders(host);
    this.logins = new ServerLogins({
      tokens: () => host.tokens(),
      finished: async (name, token) => {
        // A request that waits for the token goes on with it; without one the server is reached anew.
        if (!this.auth.answerServer(name, token)) await this.restart(name);
      },
      failed: (name, reason) => host.warn(`MCP server '${name}': ${reason}`),
    });
    this.configure(settings);
  }

  /** No turn has to wait for any of them. */
  get isReady(): boolean {
    if (this.servers.size === 0) return true;
    return this.hasBegun && ![...this.servers.values()].some((server) => server.isAwaited);
  }

  /** The servers that a turn waits for. */
  get waitingOn(): readonly Wait[] {
    return [...this.awaited.values()];
  }

  list(): readonly McpServer[] {
    return [...this.servers.values()];
  }

  /** All of them in the words of the wire. */
  describe() {
    return this.list().map(describeServer);
  }

  find(name: string): McpServer | undefined {
    return this.servers.get(name);
  }

  isDisabled(name: string): boolean {
    return this.disabled.includes(name);
  }

  /** Takes what a client named: servers that are described otherwise start anew, others stay as they are. */
  configure({ servers, disabled, envValueMode }: McpSettings): void {
    this.envValueMode = envValueMode;
    const before = this.disabled;
    this.disabled = disabled;
    for (const [name, config] of servers) {
      const known = this.servers.get(name);
      if (known && isDeepStrictEqual(known.config, config)) continue;
      if (known) void known.stop('stopped');
      this.add(name, config);
    }
    for (const name of [...this.servers.keys()].filter((each) => !servers.has(each))) this.remove(name);
    for (const server of this.servers.values()) {
      const isDisabled = disabled.includes(server.name);
      if (isDisabled && server.status !== 'disabled') void server.stop('disabled');
      else if (!isDisabled && before.includes(server.name) && this.hasBegun) server.start();
    }
    this.changed();
  }

  /** Starts them, side by side, unless they were. */
  begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.isReported = this.servers.size === 0;
    for (const server of this.servers.values()) if (!this.isDisabled(server.name)) server.start();
    this.report();
  }

  async ready(signal: AbortSignal): Promise<void> {
    if (this.servers.size === 0) return;
    this.begin();
    const coming = this.list().filter((server) => server.isAwaited);
    if (coming.length > 0) await Promise.all(coming.map((server) => this.waitFor(server, signal)));
    signal.throwIfAborted();
    this.report({ isWaitOver: true });
  }

  tools(): readonly Tool[] {
    const offered = this.list().flatMap((server) =>
      server.tools.map((definition) => ({ server, definition })),
    );
    const raw = offered.map(({ server, definition }) => ({ server: server.name, tool: definition.name }));
    const names = namesFor(raw, this.host.takenNames());
    const tools = offered.flatMap(({ server, definition }, index) => {
      const name = names[index];
      if (name === undefined) return [];
      const plain = `${server.name}-${definition.name}`.replace(/[^a-zA-Z0-9_-]/g, '-');
      if (name !== plain) this.warnOfName(`${server.name}/${definition.name}`, { plain, name });
      return [mcpTool(server, definition, name)];
    });
    return tools.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** The tools of a server are known when it is connected. */
  mayOffer(name: string): boolean {
    return this.list().some(
      (server) =>
        server.status !== 'connected' &&
        name.startsWith(`${namesFor([{ server: server.name, tool: '' }])[0]}`),
    );
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Starts a server that was disabled or stopped. */
  enable(name: string): void {
    this.disabled = this.disabled.filter((each) => each !== name);
    this.hasBegun = true;
    this.servers.get(name)?.start();
  }

  async disable(name: string): Promise<void> {
    if (!this.isDisabled(name)) this.disabled = [...this.disabled, name];
    await this.servers.get(name)?.stop('disabled');
  }

  /** Calls a tool for an app that a client shows; clients receive what came of it. */
  callForApp(server: McpServer, call: AppToolCall, signal: AbortSignal): Promise<JsonObject> {
    return callForApp(server, call, { signal, emit: (draft) => this.host.emit(draft) });
  }

  /** Prompts of servers as commands of users. */
  commands(): readonly PromptCommand[] {
    return promptCommands(this.list());
  }

  /** The prompt that a server makes of a command; undefined when there is no such command. Rejects in words. */
  async commandPrompt(name: string, args: string): Promise<string | undefined> {
    const command = this.commands().find((each) => each.name === name);
    return command && promptText(command, args);
  }

  /** The session may work in other directories now: then servers hear of it, and ask for the list. */
  directoriesChanged(): void {
    const before = this.roots;
    this.roots = this.host.directories();
    if (before.length === 0 || isDeepStrictEqual(before, this.roots)) return;
    for (const { connection } of this.servers.values()) connection?.rootsChanged().catch(gone);
  }

  /** Ends a server and starts it again. */
  async restart(name: string): Promise<void> {
    await this.servers.get(name)?.stop('pending');
    this.enable(name);
  }

  /** Tokens of a log-in elsewhere are kept for a server, or for some of them: those that want one are reached with it. */
  async credentialsChanged(name?: string): Promise<void> {
    const named = this.list().filter((server) => name === undefined || server.name === name);
    for (const { name: each, config, isRunning } of named) {
      const remote = config.type === 'http' || config.type === 'sse' ? config : undefined;
      const token = remote && this.host.tokens().read(remote.url)?.tokens?.access_token;
      if (token === undefined || this.isDisabled(each)) continue;
      if (isRunning) this.servers.get(each)?.refresh();
      else if (!this.auth.answerServer(each, token)) await this.restart(each);
    }
  }

  /** How a server takes a request, with the token that is kept for it or without; nothing changes. Rejects, in words. */
  async probeAuth({ name, config }: McpServer, signal: AbortSignal): Promise<AuthProbe> {
    if (config.type !== 'http' && config.type !== 'sse')
      throw new Error(`MCP server '${name}' is not a remote server: there is nothing to log in at`);
    const { probeAuth } = await import('./oauth/auth-probe.js');
    return probeAuth(config, this.host.tokens().read(config.url)?.tokens?.access_token, signal);
  }

  /** False when there is no server of the runtime's own. */
  removeBuiltin(): boolean {
    const found = this.list().find(({ config }) => config.source === 'builtin');
    if (!found) return false;
    this.remove(found.name);
    this.changed();
    return true;
  }

  /** Ends all of them; the next turn starts them again. */
  async close(): Promise<void> {
    if (!this.hasBegun) return;
    this.hasBegun = false;
    this.isReported = true;
    this.logins.close();
    const running = this.list().filter((server) => server.isStarted);
    const stopped = running.map((server) => server.stop('pending'));
    await this.host.programs.endProgramsOf(this);
    await Promise.all(stopped);
  }

  /** Ends all of them and starts them again. */
  async reload(): Promise<void> {
    await this.close();
    this.begin();
  }

  private add(name: string, config: McpServerConfig): void {
    const server: McpServer = new McpServer(name, config, {
      ...this.host,
      owner: this,
      authorise: (...asked) => this.auth.ask(...asked),
      headers: (...asked) => this.headers.of(...asked),
      expandsVariables: () => this.envValueMode === 'indirect',
      statusChanged: (changed) => {
        if (this.servers.get(name) === changed) this.statusChanged(changed);
      },
      listChanged: (changed, what) => this.listChanged(changed, what),
    });
    this.servers.set(name, server);
    if (this.isDisabled(name)) void server.stop('disabled');
    else if (this.hasBegun) server.start();
  }

  private remove(name: string): void {
    const server = this.servers.get(name);
    this.servers.delete(name);
    void server?.stop('stopped');
  }

  /** Turns that wait for servers which are starting go on without them; false when none waits. */
  moveToBackground(): boolean {
    const isAwaited = this.awaited.size > 0;
    for (const server of this.awaited.keys()) server.deadline = 0;
    this.released.abort();
    this.released = new AbortController();
    return isAwaited;
  }

  private async waitFor(server: McpServer, signal: AbortSignal): Promise<void> {
    const wait: Wait = { kind: 'mcp_server', serverName: server.name, since: this.host.clock.timestamp() };
    const { signal: released } = this.released;
    this.awaited.set(server, wait);
    try {
      await server.settled(AbortSignal.any([signal, released]));
    } catch (error) {
      if (signal.aborted || !released.aborted) throw error;
    } finally {
      this.awaited.delete(server);
    }
  }

  private statusChanged({ name, status, error }: McpServer): void {
    this.changed();
    if (!this.hasBegun) return;
    const data = { serverName: name, status, ...(error !== undefined && { error }) };
    this.host.emit({ type: 'session.mcp_server_status_changed', data });
    this.report();
  }

  private listChanged(server: McpServer, what: 'tools' | 'prompts' | 'resources'): void {
    if (what === 'tools') this.changed();
    this.host.emit({ type: `mcp.${what}.list_changed`, data: { serverName: server.name } });
  }

  /** Once all have started or failed, or the turn waits no longer, clients get the list. */
  private report({ isWaitOver = false } = {}): void {
    if (this.isReported) return;
    const isSettled = this.list().every(({ status }) => status !== 'pending');
    if (!isSettled && !isWaitOver) return;
    this.isReported = true;
    this.host.emit({
      type: 'session.mcp_servers_loaded',
      data: { servers: this.describe() },
    });
  }

  private warnOfName(
    named: string,
    { plain, name }: { readonly plain: string; readonly name: string },
  ): void {
    const tool = plainText(named, longestWarned).replace(/[\n\t]/g, ' ');
    const message = `The tool ${tool} is offered as ${name}: ${
      plain.length > longestName
        ? `${plain} has more than ${longestName} characters`
        : `${plain} is another tool's name`
    }.`;
    if (this.warned.has(message)) return;
    this.warned.add(message);
    this.host.warn(message);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

const longestWarned = 200;
const transports = { stdio: 'stdio', http: 'http', sse: 'sse', invalid: undefined } as const;

/** A server in the words of the wire. */
function describeServer({ name, status, error, config }: McpServer): {
  readonly name: string;
  readonly status: McpStatus;
  readonly source: McpServerConfig['source'];
  readonly error?: string;
  readonly transport?: 'stdio' | 'http' | 'sse';
} {
  const transport = transports[config.type];
  return {
    name,
    status,
    source: config.source,
    ...(error !== undefined && { error }),
    ...(transport !== undefined && { transport }),
  };
}

/** It asks for the list when it is started again. */
const gone = (): undefined => undefined;
