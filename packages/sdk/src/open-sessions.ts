import type { SessionEvent } from '@groundcrew/protocol';
import { ErrorCode, RpcError } from '@groundcrew/rpc';
import { type GroundcrewError, sessionNotFound } from './errors.js';
import type { Session } from './session.js';

/** The sessions that one connection is attached to. One that is opened again has several objects; the newest answers. */
export class OpenSessions {
  private readonly byId = new Map<string, readonly Session[]>();

  get all(): readonly Session[] {
    return [...this.byId.values()].flat();
  }

  add(session: Session): void {
    this.byId.set(session.sessionId, [...this.of(session.sessionId), session]);
  }

  remove(session: Session): void {
    const rest = this.of(session.sessionId).filter((other) => other !== session);
    if (rest.length === 0) this.byId.delete(session.sessionId);
    else this.byId.set(session.sessionId, rest);
  }

  /** Whether it is this one through which the connection is attached. */
  isNewest(session: Session): boolean {
    return this.of(session.sessionId).at(-1) === session;
  }

  /** Whether a question of before is for this one's handlers: it is the newest, and no other one's are at it. */
  mayAnswer(session: Session, requestId: string): boolean {
    const others = this.of(session.sessionId).filter((other) => other !== session);
    return this.isNewest(session) && !others.some((other) => other.isAt(requestId));
  }

  receive(sessionId: string, event: SessionEvent): void {
    for (const session of this.of(sessionId)) session.receive(event, { isAnswering: this.isNewest(session) });
  }

  answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const { sessionId } = (params ?? {}) as { readonly sessionId?: string };
    const session = sessionId === undefined ? undefined : this.of(sessionId).at(-1);
    if (session) return session.answer(method, params, signal);
    throw new RpcError(ErrorCode.internal, `Session not found: ${sessionId}`);
  }

  /** The session is gone for all who have it. */
  removeSession(sessionId: string): void {
    for (const session of this.of(sessionId)) session.end(sessionNotFound(sessionId));
    this.byId.delete(sessionId);
  }

  endAll(reason: GroundcrewError): void {
    for (const session of this.all) session.end(reason);
    this.byId.clear();
  }

  private of(sessionId: string): readonly Session[] {
    return this.byId.get(sessionId) ?? [];
  }
}
