import type { NodeFigures } from '@groundcrew/store';
import type { Clock } from './clock.js';
import type { PublishedEvent } from './log/published-event.js';
import { openQuestions } from './log/state.js';
import { OneAtATime } from './one-at-a-time.js';
import type { Session } from './session/session.js';
import type { SessionSettings } from './settings/session-settings.js';

interface LiveSessionsParts {
  readonly clock: Clock;
  /** Sessions idle for so long are unloaded; 0 means never. */
  readonly sessionIdleSeconds: number;
  /** Given where other nodes could take a session that is unloaded while clients are attached to it here. */
  readonly cluster?: unknown;
}

/** The sessions that are open in this process, and when each of them leaves memory. */
export class LiveSessions {
  private readonly sessions = new Map<string, Session>();
  private readonly turns = new OneAtATime();
  /** What sessions go by that were unloaded while their turn waits for users. */
  private readonly waiting = new Map<string, SessionSettings>();
  private readonly activeAt = new Map<string, number>();
  private idleTimer: NodeJS.Timeout | undefined;
  private turnsBegun = 0;

  constructor(private readonly parts: LiveSessionsParts) {
    const { sessionIdleSeconds } = parts;
    if (sessionIdleSeconds > 0) {
      this.idleTimer = setInterval(
        () => void this.unloadIdle(),
        Math.max(50, (sessionIdleSeconds * 1000) / 4),
      ).unref();
    }
  }

  find(sessionId: string): Session | undefined {
    return this.sessions.get(sessionId);
  }

  /** Those that are open now. */
  all(): readonly Session[] {
    return [...this.sessions.values()];
  }

  has(sessionId: string): boolean {
    return this.sessions.has(sessionId);
  }

  /** What is opened, closed or changed of one session happens one after the other. */
  oneAtATime<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    return this.turns.run(sessionId, work);
  }

  get ids(): readonly string[] {
    return [...this.sessions.keys(), ...this.waiting.keys()];
  }

  add(session: Session): void {
    this.sessions.set(session.sessionId, session);
  }

  remove(sessionId: string): void {
    this.sessions.delete(sessionId);
    this.activeAt.delete(sessionId);
  }

  /** What a session goes by that was unloaded while its turn waits. */
  waitingSettings(sessionId: string): SessionSettings | undefined {
    return this.waiting.get(sessionId);
  }

  /** The session is deleted, or goes on. */
  endWait(sessionId: string): void {
    this.waiting.delete(sessionId);
  }

  /** What the sessions in memory do now; turns are counted from the start of the process. */
  get figures(): Pick<NodeFigures, 'prompts' | 'questions' | 'running' | 'sessions' | 'turns'> {
    const states = this.all().flatMap(({ loadedState }) => loadedState ?? []);
    return {
      sessions: this.ids.length,
      running: this.all().filter(({ isRunning }) => isRunning).length,
      turns: this.turnsBegun,
      prompts: states.reduce((sum, { inbox }) => sum + inbox.length, 0),
      questions: states.reduce((sum, state) => sum + openQuestions(state).length, 0),
    };
  }

  noteActivity(published: PublishedEvent): void {
    if (published.type === 'user.message') this.turnsBegun += 1;
    if (this.parts.sessionIdleSeconds > 0)
      this.activeAt.set(published.sessionId, this.parts.clock.now().getTime());
    if (stops.has(published.type)) this.unloadWhenAlone(published);
  }

  unloadWhenAlone({ sessionId }: { readonly sessionId: string }): void {
    const session = this.sessions.get(sessionId);
    if (session && session.audience.size === 0) setImmediate(() => void this.unloadIfUnused(session));
  }

  async unloadIfUnused(session: Session): Promise<void> {
    const { sessionId, audience } = session;
    await this.oneAtATime(sessionId, async () => {
      if (this.sessions.get(sessionId) !== session) return;
      if (audience.size === 0 && (await session.keeper.unloadWaiting()))
        this.waiting.set(sessionId, session.currentSettings);
      else await session.keeper.unload();
      if (audience.size === 0 && !session.isLoaded) this.remove(sessionId);
    }).catch(unreachableStore);
  }

  /** Every session ends with the process: idle ones are closed, running turns stay as pending work. */
  async endWithProcess(): Promise<void> {
    clearInterval(this.idleTimer);
    await Promise.allSettled([...this.sessions.values()].map((session) => session.keeper.endWithProcess()));
    this.sessions.clear();
  }

  private async unloadIdle(): Promise<void> {
    const limit = this.parts.clock.now().getTime() - this.parts.sessionIdleSeconds * 1000;
    for (const [sessionId, at] of this.activeAt) {
      const session = this.sessions.get(sessionId);
      if (!session || at > limit || session.isRunning) continue;
      if (this.parts.cluster && session.audience.size > 0) continue;
      this.activeAt.delete(sessionId);
      await this.unloadIfUnused(session);
    }
  }
}

/** After these a session may have nothing more to do. */
const stops: ReadonlySet<string> = new Set([
  'session.idle',
  'external_tool.requested',
  'permission.requested',
  'user_input.requested',
  'exit_plan_mode.requested',
]);

/** No caller waits for a session to be unloaded: one whose store cannot be reached stays until the next occasion. */
const unreachableStore = (): undefined => undefined;
