import { type Callbacks, callbacks, type Method, type Params, type Result, read } from '@groundcrew/protocol';
import { type Connection, type Encoded, encodeRaw, RpcError } from '@groundcrew/rpc';
import {
  type Attachment,
  ClientGone,
  type PublishedEvent,
  type Runtime,
  type Session,
  type SessionSettings,
} from '@groundcrew/runtime';
import type { LogRecord } from '@groundcrew/store';
import { type Identity, localUser } from './access.js';
import type { ClientDialect } from './dialect/client-dialect.js';
import { QuestionRequests, type RequestedClient } from './dialect/question-requests.js';
import { Feed } from './feed.js';
import type { ForwardedTelemetry } from './forwarded-telemetry.js';
import { LifecycleFeed, type Notice } from './lifecycle-feed.js';
import { sessionMoved } from './routing.js';

/** What a client says of itself when it opens a session. */
export type Share = Omit<
  Attachment,
  'clientId' | 'receive' | 'ask' | 'reportsIntent' | 'unasked' | 'storesFiles'
>;

/** One connected client and the sessions it is attached to. */
export class Client {
  /** It asked for telemetry of the sessions it is attached to. */
  wantsTelemetry = false;
  /** Where it stores the files of its sessions, and where they work unless it says otherwise; absent when it does not. */
  hosting: (NonNullable<SessionSettings['hosting']> & { readonly initialCwd: string }) | undefined;

  /** It connects elsewhere when this runtime is about to end. */
  movesOn = false;

  private hasLeft = false;
  private readonly feeds = new Map<string, Feed>();
  /** Of sessions that the client has left before it had received everything. */
  private readonly late = new Map<string, Feed>();
  private readonly lifecycles: LifecycleFeed;
  /** Of sessions whose questions are put to this client as requests. */
  private readonly requests = new Map<string, QuestionRequests>();

  constructor(
    readonly id: string,
    readonly dialect: ClientDialect,
    private readonly connection: Connection,
    private readonly runtime: Runtime,
    private readonly telemetry: ForwardedTelemetry,
    /** The extension that the client is, where the runtime has started it. */
    readonly extension?: { readonly id: string; readonly name: string; joined(clientId: string): void },
    /** It is connected to another node, which hands on what it is sent. */
    readonly isForwarded = false,
    readonly identity: Identity = localUser,
  ) {
    this.lifecycles = new LifecycleFeed(connection);
  }

  /** It receives and reads, and answers nothing. */
  get isObserver(): boolean {
    return this.identity.role === 'observer';
  }

  /** Opens a session with this client attached; when that fails the client is attached as it was before. */
  async open(
    sessionId: string,
    share: Share,
    open: (attachment: Attachment) => Promise<Session>,
  ): Promise<Session> {
    const before = this.feeds.get(sessionId);
    const isAsked = this.dialect.asksByRequest && !this.isObserver;
    const requests = isAsked ? this.requestsOf(sessionId, share) : undefined;
    try {
      const session = await open(this.attachment(sessionId, share, requests?.current));
      this.extension?.joined(this.id);
      return session;
    } catch (error) {
      requests?.restore();
      if (before) this.feeds.set(sessionId, before);
      else this.part(sessionId);
      throw error;
    } finally {
      if (this.hasLeft) this.part(sessionId);
    }
  }

  /** The client has the answer to its create or resume, so it knows the session: what is open is put to it. */
  offerQuestions(sessionId: string): void {
    // A session that cannot be read says so to the client that asks for it.
    this.requests
      .get(sessionId)
      ?.offer()
      .catch(() => undefined);
  }

  /** What the session needs in order to have this client attached. */
  private attachment(sessionId: string, share: Share, requests: QuestionRequests | undefined): Attachment {
    const { dialect } = this;
    const feed = this.feedOf(sessionId);
    this.feeds.set(sessionId, feed);
    const unasked = share.requestPermission || this.isObserver ? undefined : dialect.unasked;
    return {
      clientId: this.id,
      ...share,
      // It runs them itself, and has no user to ask.
      ...(unasked && { tools: share.tools.map((tool) => ({ ...tool, skipPermission: true })), unasked }),
      ...(share.canvases && { canvases: this.named(share.canvases) }),
      reportsIntent: dialect.reportsIntent,
      ...(this.hosting && { storesFiles: true }),
      receive: (published) => {
        feed.receive(published);
        requests?.receive(published);
        if (this.wantsTelemetry) this.forward(published);
      },
      ask: (callback, params, signal) => this.ask(callback, params, signal),
    };
  }

  /** Canvases go by the extension that brings them, else by the name the client gave, else by its connection. */
  private named(canvases: NonNullable<Share['canvases']>): NonNullable<Share['canvases']> {
    if (this.extension)
      return { ...canvases, extensionId: this.extension.id, extensionName: this.extension.name };
    return { ...canvases, extensionId: canvases.extensionId || `connection:${this.id}` };
  }

  private forward(published: PublishedEvent): void {
    const params = this.telemetry.of(published);
    if (params) this.connection.notify('gitHubTelemetry.event', params);
  }

  private requestsOf(
    sessionId: string,
    share: Share,
  ): { readonly current: QuestionRequests; restore(): void } {
    const client: RequestedClient = {
      sessionId,
      toolNames: new Set(share.tools.map(({ name }) => name)),
      answersPermissions: share.requestPermission,
      session: () => this.runtime.find(sessionId),
      ask: (callback, params, signal) => this.ask(callback, params, signal),
    };
    const known = this.requests.get(sessionId);
    if (known) return { current: known, restore: known.reopen(client) };
    const current = new QuestionRequests(client);
    this.requests.set(sessionId, current);
    return { current, restore: () => undefined };
  }

  /** A client that is behind and attaches again first receives what it missed, so by the same feed. */
  private feedOf(sessionId: string): Feed {
    const known = this.feeds.get(sessionId) ?? this.late.get(sessionId);
    this.late.delete(sessionId);
    if (known?.isBehind) return known;
    return new Feed({
      sessionId,
      dialect: this.dialect,
      connection: this.connection,
      showsSeq: this.isForwarded,
      read: (after) => this.runtime.find(sessionId)?.read(after) ?? nothing(),
    });
  }

  detached(sessionId: string): void {
    this.endRequests(sessionId);
    const feed = this.feeds.get(sessionId);
    this.feeds.delete(sessionId);
    for (const [id, { isBehind }] of this.late) if (!isBehind) this.late.delete(id);
    if (feed?.isBehind) this.late.set(sessionId, feed);
  }

  /** Puts a request of the table to the client and checks what it answers. */
  async ask<K extends keyof Callbacks>(
    callback: K,
    params: Params<Callbacks[K]>,
    signal: AbortSignal,
  ): Promise<Result<Callbacks[K]>> {
    const answer = await this.connection.request(callback, params, signal).catch((error: unknown) => {
      throw isConnectionClosed(error) ? new ClientGone('The client has left') : error;
    });
    const { result }: Method = callbacks[callback];
    const parsed = read(result, answer);
    if (!parsed.success || Array.isArray(answer))
      throw new Error(`${callback} was answered otherwise than the protocol says`);
    // The table pairs each name with its own result; which one this is, is known only now.
    return parsed.data as Result<Callbacks[K]>;
  }

  sendFrame(frame: Encoded): void {
    this.connection.send(frame);
  }

  /** News of a session, be the client attached to it or not; its own node has them for one that is forwarded. */
  sendLifecycle(notice: Notice): void {
    if (!this.isForwarded) this.lifecycles.send(notice);
  }

  /** The runtime is about to end: notifies a client that connects elsewhere by itself. */
  announceDrain(): void {
    if (this.movesOn) this.connection.notify('runtime.draining', {});
  }

  /** Another node has the session now: the node of the client looks for it there. */
  sessionMoved(sessionId: string): void {
    if (!this.feeds.has(sessionId)) return;
    this.connection.notify(sessionMoved, { sessionId });
    this.part(sessionId);
  }

  /** A stored event as a message that the client can read. */
  eventOf(sessionId: string, record: LogRecord): Encoded | undefined {
    this.dialect.sent(sessionId, record);
    const json = this.dialect.event(record);
    if (json === undefined) return undefined;
    return encodeRaw(
      `{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":${JSON.stringify(sessionId)},"event":${json}}}`,
    );
  }

  /** The connection is gone: its sessions go on without it. */
  disconnect(): void {
    this.hasLeft = true;
    for (const sessionId of this.feeds.keys()) this.part(sessionId);
  }

  private part(sessionId: string): void {
    this.feeds.delete(sessionId);
    this.endRequests(sessionId);
    this.runtime.detachLostClient(sessionId, this.id);
  }

  private endRequests(sessionId: string): void {
    this.requests.get(sessionId)?.close();
    this.requests.delete(sessionId);
  }
}

function isConnectionClosed(error: unknown): boolean {
  if (!(error instanceof RpcError)) return false;
  const { code } = (error.data ?? {}) as { readonly code?: unknown };
  return code === 'connection_closed';
}

async function* nothing(): AsyncGenerator<never> {
  yield* [];
}
