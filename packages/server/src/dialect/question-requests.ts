import type { EventData, JsonObject, Params, Result } from '@groundcrew/protocol';
import { type Callbacks, withoutNulls } from '@groundcrew/protocol';
import {
  ClientGone,
  type Decision,
  type ExternalAnswer,
  type PublishedEvent,
  requestFailure,
  type Session,
} from '@groundcrew/runtime';
import { boundedResult } from '../content-sizes.js';

/** The client, as far as it is asked here. */
export interface RequestedClient {
  readonly sessionId: string;
  /** The tools that this client runs. */
  readonly toolNames: ReadonlySet<string>;
  readonly answersPermissions: boolean;
  session(): Session | undefined;
  /** Rejects with ClientGone when the client has left, else when it fails to answer. */
  ask<K extends RequestName>(
    callback: K,
    params: Params<Callbacks[K]>,
    signal: AbortSignal,
  ): Promise<Result<Callbacks[K]>>;
}

type RequestName = 'tool.call' | 'permission.request';
type ToolQuestion = EventData<'external_tool.requested'>;
type PermissionQuestion = EventData<'permission.requested'>;

/**
 * Puts the questions of one session to a client of protocol 2, as requests. What it answers counts as any client's
 * answer: the first wins. A question whose client has left stays open for the next one.
 */
export class QuestionRequests {
  private readonly asked = new Map<string, AbortController>();
  private isOffering = false;

  constructor(private client: RequestedClient) {}

  /**
   * The same client opens the session again, and may bring other tools; what it was asked before it answers still.
   * Returns what goes back to how it was.
   */
  reopen(client: RequestedClient): () => void {
    const before = { client: this.client, isOffering: this.isOffering };
    this.client = client;
    this.isOffering = false;
    return () => {
      this.client = before.client;
      if (before.isOffering) this.offer().catch(reportedByTheTurn);
    };
  }

  /**
   * From now on the client is asked, first what is open already. Call it after the answer to create or resume: before that,
   * such clients do not know the session.
   */
  async offer(): Promise<void> {
    this.isOffering = true;
    const questions = await this.client.session()?.openQuestions();
    for (const question of questions ?? []) {
      if (question.kind === 'external_tool') this.askTool(question.event);
      if (question.kind === 'permission') this.askPermission(question.event);
    }
  }

  receive(published: PublishedEvent): void {
    if (!questionEvents.has(published.type)) return;
    const { event } = published;
    if (event.type === 'external_tool.requested') this.askTool(event.data);
    else if (event.type === 'permission.requested') this.askPermission(event.data);
    else if (event.type === 'external_tool.completed') this.end(event.data.requestId);
    else if (event.type === 'permission.completed') this.end(event.data.requestId);
    else this.endAll();
  }

  /** The client has left the session: what it was asked waits for another one. */
  close(): void {
    this.isOffering = false;
    this.endAll();
  }

  private askTool({ requestId, toolCallId, toolName, arguments: args }: ToolQuestion): void {
    const { sessionId, toolNames } = this.client;
    if (!toolNames.has(toolName)) return;
    this.ask(
      'tool.call',
      requestId,
      { sessionId, toolCallId, toolName, arguments: args },
      async (outcome) => {
        const answer = 'error' in outcome ? { error: messageOf(outcome.error) } : toolAnswer(outcome.result);
        await this.client.session()?.answer({ kind: 'external_tool', requestId }, answer);
      },
    );
  }

  private askPermission({ requestId, permissionRequest }: PermissionQuestion): void {
    const { sessionId, answersPermissions } = this.client;
    if (!answersPermissions) return;
    const params = { sessionId, permissionRequest: { ...permissionRequest } };
    this.ask('permission.request', requestId, params, async (outcome) => {
      const session = this.client.session();
      if (!session) return;
      const decision = 'error' in outcome ? unavailable : (withoutNulls(outcome.result.result) as Decision);
      await session.permissions.answer(requestId, decision).catch((error: unknown) => {
        if (requestFailure(error).code !== 'unknown_decision') throw error;
        return session.permissions.answer(requestId, unavailable);
      });
    });
  }

  private ask<K extends RequestName>(
    callback: K,
    requestId: string,
    params: Params<Callbacks[K]>,
    settle: (outcome: Outcome<Result<Callbacks[K]>>) => Promise<void>,
  ): void {
    if (!this.isOffering || this.asked.has(requestId)) return;
    const controller = new AbortController();
    this.asked.set(requestId, controller);
    const { signal } = controller;
    this.client
      .ask(callback, params, signal)
      .then(
        (result): Outcome<Result<Callbacks[K]>> => ({ result }),
        (error: unknown) => ({ error }),
      )
      .then((outcome) => {
        this.asked.delete(requestId);
        const isOver = signal.aborted || ('error' in outcome && outcome.error instanceof ClientGone);
        return isOver ? undefined : settle(outcome);
      })
      .catch(reportedByTheTurn);
  }

  private end(requestId: string): void {
    this.asked.get(requestId)?.abort();
    this.asked.delete(requestId);
  }

  private endAll(): void {
    for (const requestId of [...this.asked.keys()]) this.end(requestId);
  }
}

/** What begins a question, ends one, or ends all that a turn had open. */
const questionEvents: ReadonlySet<string> = new Set([
  'external_tool.completed',
  'external_tool.requested',
  'permission.completed',
  'permission.requested',
  'session.idle',
]);

type Outcome<R> = { readonly result: R } | { readonly error: unknown };

/** The client could not say: a call without approval is not run. */
const unavailable: Decision = { kind: 'denied-no-approval-rule-and-could-not-request-from-user' };

/** That an answer could not be stored ends the turn that waits for it. */
const reportedByTheTurn = (): undefined => undefined;

function toolAnswer({ result }: Result<Callbacks['tool.call']>): ExternalAnswer {
  if (result === undefined || result === null) return {};
  if (typeof result === 'string') return { result: boundedResult(result) };
  if (typeof result !== 'object' || Array.isArray(result))
    return { result: boundedResult(JSON.stringify(result)) };
  const isShaped = 'textResultForLlm' in result;
  return { result: boundedResult((isShaped ? withoutNulls(result) : result) as JsonObject) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
