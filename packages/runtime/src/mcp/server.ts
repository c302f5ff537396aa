import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from '@groundcrew/protocol';
import type { CallToolResult, Prompt } from '@modelcontextprotocol/client';
import { type McpCall, ToolFailure, type ToolResult } from '../tools/tool.js';
import type { Challenge, ClientAuth } from './client-auth.js';
import type { ClientHeaders } from './client-headers.js';
import type { McpServerConfig } from './config.js';
import type { McpConnection } from './connection.js';
import { readDefinitions, type ToolDefinition } from './definition.js';
import { type Link, type LinkParts, type OpenParts, openLink } from './link.js';
import type { TokenBook } from './oauth/token-book.js';
import { progressReporter, resultOfAnswer } from './result.js';
import type { McpStatus } from './status.js';

/** What a server needs of the session around it. */
export interface ServerHost extends LinkParts {
  /** The directories that the session works in. */
  directories(): readonly string[];
  /** The status is another one. */
  statusChanged(server: McpServer): void;
  /** What it offers is something else. */
  listChanged(server: McpServer, what: 'tools' | 'prompts' | 'resources'): void;
  warn(message: string): void;
  authorise: ClientAuth['ask'];
  headers: ClientHeaders['of'];
  tokens(): TokenBook;
}

type Greeted = { readonly link: Link } | { readonly failure: string };

/** How a call of a tool is made. */
export interface ToolCallOptions {
  readonly meta?: JsonObject | undefined;
  readonly signal: AbortSignal;
  progress(output: string): void;
}

/** One MCP server of a session, from its start to its end. It restarts when it crashes, up to a cap. */
export class McpServer {
  status: McpStatus = 'pending';
  error: string | undefined;
  /** When the status became what it is, in milliseconds since 1970. */
  changedAt = Date.now();
  tools: readonly ToolDefinition[] = [];
  prompts: readonly Prompt[] = [];
  /** The log-in that the server last asked for. */
  challenge: Challenge['wwwAuthenticateParams'];
  private link: Link | undefined;
  private life: AbortController | undefined;
  private done: Promise<void> = Promise.resolve();
  /** Until then turns wait for it. */
  deadline = 0;
  private refreshing: Promise<void> | undefined;
  /** By the name of a tool, the description that approvals are for. */
  private readonly accepted = new Map<string, string>();
  private isStale = false;
  private readonly waiting = new Set<() => void>();
  /** It does not take the probe of newer revisions. */
  private isOld = false;

  constructor(
    readonly name: string,
    readonly config: McpServerConfig,
    private readonly host: ServerHost,
  ) {}

  get isRunning(): boolean {
    return this.status === 'connected';
  }

  /** It has been started, and neither stopped nor failed since. */
  get isStarted(): boolean {
    return this.life !== undefined;
  }

  /** A turn that begins now should wait for it. */
  get isAwaited(): boolean {
    const isComing = this.isStarted && this.status === 'pending';
    return (isComing && Date.now() < this.deadline) || this.refreshing !== undefined;
  }

  get connection(): McpConnection | undefined {
    return this.link?.connection;
  }

  /** Starts it unless it runs; what comes of that is its status. */
  start(): void {
    if (this.life) return;
    const life = new AbortController();
    this.life = life;
    this.deadline = Date.now() + this.startLimit;
    this.done = this.live(life.signal).finally(() => {
      if (this.life === life) this.life = undefined;
    });
  }

  /** Ends it; resolves when its processes are gone. */
  async stop(status: McpStatus, error?: string): Promise<void> {
    const { life, done } = this;
    this.life = undefined;
    life?.abort(new Error('The server was stopped'));
    this.setStatus(status, error);
    await done;
  }

  /** Resolves when it is no longer waited for. */
  async settled(signal: AbortSignal): Promise<void> {
    if (!this.isAwaited) return;
    const limit = AbortSignal.timeout(Math.max(1, this.deadline - Date.now()));
    const either = AbortSignal.any([signal, limit]);
    while (this.isAwaited && !either.aborted) await this.change(either);
  }

  /** Calls a tool; whatever happens to the server, there is an answer. */
  async call(toolName: string, args: JsonObject, options: ToolCallOptions): Promise<ToolResult> {
    const { signal } = options;
    await this.settled(signal);
    signal.throwIfAborted();
    const { link } = this;
    if (!link) throw new ToolFailure(`MCP server '${this.name}': ${this.absence}`);
    try {
      return await this.callOver(link, toolName, { ...options, args });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!link.isSessionLost(error)) return this.failureOf(link, error);
      // It has not made the call. Reached anew, it may: once.
      const again = await this.reached(link, signal);
      if (!again) return this.failureOf(link, error);
      return this.callOver(again, toolName, { ...options, args }).catch((second: unknown) => {
        if (signal.aborted) throw signal.reason;
        return this.failureOf(again, second);
      });
    }
  }

  private async callOver(
    link: Link,
    toolName: string,
    { args, signal, meta, progress }: ToolCallOptions & { readonly args: JsonObject },
  ): Promise<ToolResult> {
    const answer = await link.connection.call(toolName, args, {
      signal,
      meta,
      milliseconds: this.config.timeout ?? callMilliseconds,
      onProgress: progressReporter(progress),
    });
    return resultOfAnswer(this.name, answer);
  }

  private failureOf(link: Link, error: unknown): ToolResult {
    const reason = link.reason(error);
    // It asks for a log-in that no client brings: nothing more of it works until there is one.
    if (link.needsAuth(error) && this.link === link) void this.stop('needs-auth', reason);
    const text = `MCP server '${this.name}': ${reason}`;
    return { type: reason.startsWith('time-out') ? 'timeout' : 'failure', text };
  }

  /** Leaves a connection whose session is lost, and waits for the next one. */
  private async reached(lost: Link, signal: AbortSignal): Promise<Link | undefined> {
    if (this.link === lost) {
      this.setStatus('pending', 'it has forgotten the session');
      this.deadline = Date.now() + this.startLimit;
      await lost.close();
    }
    await this.settled(signal);
    signal.throwIfAborted();
    return this.link;
  }

  /** Asks something of it besides calls of tools; rejects with the reason in words. */
  async ask<T>(work: (connection: McpConnection, milliseconds: number) => Promise<T>): Promise<T> {
    const { link } = this;
    if (!link) throw new Error(`MCP server '${this.name}': ${this.absence}`);
    try {
      return await work(link.connection, this.config.timeout ?? startMilliseconds);
    } catch (error) {
      throw new Error(`MCP server '${this.name}': ${link.reason(error)}`);
    }
  }

  /** It describes the tool otherwise than when the user last let it run, or when the server first listed it. */
  isChanged({ name, version }: ToolDefinition): boolean {
    return this.accepted.get(name) !== version;
  }

  /** The user has let the tool run as it is described now. */
  accept({ name, version }: ToolDefinition): void {
    this.accepted.set(name, version);
  }

  /** Calls a tool as an app does, and returns what it answers as it is. */
  callRaw(call: McpCall, options: Pick<ToolCallOptions, 'signal' | 'meta'>): Promise<CallToolResult> {
    const milliseconds = this.config.timeout ?? callMilliseconds;
    const how = { ...options, milliseconds, onProgress: () => undefined };
    return this.ask((connection) => connection.call(call.toolName, call.arguments, how));
  }

  /** The list of its tools is out of date: it is read again. */
  refresh(): void {
    this.isStale = true;
    this.refreshing ??= this.readAgain().finally(() => {
      this.refreshing = undefined;
      // Said after the last look, and before this.
      if (this.isStale && this.link) this.refresh();
      this.wake();
    });
  }

  private async readAgain(): Promise<void> {
    while (this.isStale) {
      this.isStale = false;
      const { link } = this;
      if (!link) return;
      try {
        await this.readTools(link);
        this.host.listChanged(this, 'tools');
      } catch (error) {
        this.host.warn(
          `MCP server '${this.name}': its tools could not be listed again: ${link.reason(error)}`,
        );
      }
    }
  }

  /** Connects, and connects again when it crashes, until it is stopped or fails too often. */
  private async live(signal: AbortSignal): Promise<void> {
    for (let crashes = 0; !signal.aborted; ) {
      const opened = await this.connect(signal);
      if (!opened || signal.aborted) return;
      // What does not come up at all has failed; what ran before is given its chances.
      if ('failure' in opened && crashes === 0) return this.setStatus('failed', opened.failure);
      const since = Date.now();
      const reason = 'failure' in opened ? opened.failure : await this.lifeOf(opened.link, signal);
      if (signal.aborted) return;
      crashes = Date.now() - since > healthyMilliseconds ? 1 : crashes + 1;
      this.deadline = Date.now() + this.startLimit;
      if (crashes > mostRestarts)
        return this.setStatus('failed', `${reason}; it was restarted ${mostRestarts} times`);
      this.setStatus('pending', reason);
      await pause(firstPause * 2 ** (crashes - 1), undefined, { signal }).catch(stopped);
    }
  }

  /** Resolves with the reason when the connection has ended, and nothing of it is left. */
  private async lifeOf(link: Link, signal: AbortSignal): Promise<string> {
    const reason = await link.closed(signal);
    this.link = undefined;
    await link.close();
    return reason;
  }

  /** Undefined when it is over: its status says why. */
  private async connect(signal: AbortSignal): Promise<Greeted | undefined> {
    if (this.config.type === 'invalid') {
      this.setStatus('failed', this.config.reason);
      return undefined;
    }
    this.setStatus('pending', this.error);
    const refusal = await this.host.mayStart(this.name, this.config, signal);
    if (refusal !== undefined) {
      if (!signal.aborted) this.setStatus('failed', refusal);
      return undefined;
    }
    const limit = Math.max(this.startLimit, longestStart);
    const { config, host, isOld } = this;
    const changed = (what: 'tools' | 'prompts' | 'resources') => {
      if (what === 'tools') this.refresh();
      else if (what === 'prompts' && this.link) void this.readPrompts(this.link);
      else host.listChanged(this, what);
    };
    const roots = () => host.directories().map((path) => ({ uri: pathToFileURL(path).href, name: path }));
    const parts: OpenParts = {
      ...host,
      changed,
      roots,
      isOld,
      milliseconds: limit,
      abilities: host.abilities(),
      authorise: (remote, challenge, asked) => {
        this.challenge = challenge.wwwAuthenticateParams;
        return host.authorise(this.name, remote, challenge, asked);
      },
      headers: (remote, asked) => host.headers(this.name, remote, asked),
      elicit: (params, asked) => host.elicit(this.name, params, asked),
      sample: (...asked) => host.sample(this.name, ...asked),
    };
    const opened = await openLink(config, parts, signal);
    if (signal.aborted) {
      if ('link' in opened) await opened.link.close();
      return undefined;
    }
    if ('isOld' in opened) {
      this.isOld = true;
      return this.connect(signal);
    }
    if ('link' in opened) return this.greet(opened.link, signal);
    if (!opened.needsAuth) return { failure: opened.failure };
    this.setStatus('needs-auth', opened.failure);
    return undefined;
  }

  private async greet(link: Link, signal: AbortSignal): Promise<Greeted | undefined> {
    try {
      await this.readTools(link);
    } catch (error) {
      const reason = link.reason(error);
      await link.close();
      return { failure: `its tools could not be listed: ${reason}` };
    }
    if (signal.aborted) {
      await link.close();
      return undefined;
    }
    this.link = link;
    this.setStatus('connected');
    if (link.connection.capabilities.prompts) void this.readPrompts(link);
    return { link };
  }

  private async readTools(link: Link): Promise<void> {
    const listed = await link.connection.tools(this.startLimit);
    const { definitions, problems } = readDefinitions(listed);
    for (const problem of problems) this.host.warn(`MCP server '${this.name}': ${problem}.`);
    const { tools, excludeTools = [] } = this.config;
    for (const definition of definitions) if (!this.accepted.has(definition.name)) this.accept(definition);
    this.tools = definitions.filter(
      ({ name }) => (tools === undefined || tools.includes(name)) && !excludeTools.includes(name),
    );
  }

  /** Prompts are for users: no turn waits for them. */
  private async readPrompts(link: Link): Promise<void> {
    try {
      const prompts = await link.connection.prompts(this.startLimit);
      if (this.link !== link) return;
      this.prompts = prompts.slice(0, mostPrompts);
      this.host.listChanged(this, 'prompts');
    } catch (error) {
      if (this.link === link)
        this.host.warn(`MCP server '${this.name}': its prompts could not be listed: ${link.reason(error)}`);
    }
  }

  private get startLimit(): number {
    return this.config.timeout ?? startMilliseconds;
  }

  private get absence(): string {
    return this.error === undefined ? 'it is not connected' : `it is not connected: ${this.error}`;
  }

  private setStatus(status: McpStatus, error?: string): void {
    const isSame = this.status === status && this.error === error;
    this.status = status;
    this.error = error;
    if (status !== 'connected') {
      this.link = undefined;
      this.tools = [];
      this.prompts = [];
    }
    this.changedAt = Date.now();
    this.wake();
    if (!isSame) this.host.statusChanged(this);
  }

  private wake(): void {
    for (const wake of this.waiting) wake();
  }

  private change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }
}

/** A pause ends early when the server is stopped. */
const stopped = (): undefined => undefined;

/** How long a turn waits for a server to start, unless its configuration says otherwise. */
const startMilliseconds = 30_000;
/** How long a start may take at all; it goes on while turns no longer wait. */
const longestStart = 300_000;
const callMilliseconds = 300_000;
const mostRestarts = 5;
const mostPrompts = 200;
const firstPause = 250;
/** A server that ran so long begins to count its crashes anew. */
const healthyMilliseconds = 60_000;
