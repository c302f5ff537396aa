import type { Client, Session, SessionEvent, SessionOptions } from '@groundcrew/sdk';
import { type HostAnswer, type OpenQuestion, Questions } from './questions.js';

/** How a session is, as hosts read it. */
export interface SessionView {
  readonly sessionId: string;
  /** `question`: it waits for an answer. */
  readonly status: 'idle' | 'running' | 'question';
  /** What the agent said last. */
  readonly answer?: string;
  /** Why the last turn failed. */
  readonly error?: string;
  readonly questions: readonly OpenQuestion[];
}

/** What a session is started with. */
export interface StartRequest extends Pick<SessionOptions, 'model' | 'workingDirectory'> {
  readonly prompt?: string | undefined;
}

/** The sessions that hosts work with; all hosts see the same. */
export class ServedSessions {
  private readonly open = new Map<string, Promise<Served>>();

  constructor(
    private readonly client: Client,
    private readonly defaults: Omit<SessionOptions, 'onEvent' | 'onPermissionRequest'> = {},
  ) {}

  async start({ prompt, model, workingDirectory }: StartRequest): Promise<SessionView> {
    const served = new Served();
    served.session = await this.client.createSession({
      ...this.defaults,
      ...served.options(),
      ...(model !== undefined && { model }),
      ...(workingDirectory !== undefined && { workingDirectory }),
    });
    this.open.set(served.session.sessionId, Promise.resolve(served));
    if (prompt !== undefined) await served.send(prompt, 'enqueue');
    return served.view();
  }

  async send(sessionId: string, prompt: string, mode: 'enqueue' | 'immediate'): Promise<SessionView> {
    const served = await this.find(sessionId);
    await served.send(prompt, mode);
    return served.view();
  }

  /** Resolves when the session is idle or asks something, or after so long; `report` gets what happens meanwhile. */
  async wait(
    sessionId: string,
    { milliseconds, report }: { readonly milliseconds: number; report(line: string): void },
    signal: AbortSignal,
  ): Promise<SessionView> {
    const served = await this.find(sessionId);
    await served.settled(AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]), report);
    return served.view();
  }

  async answer(sessionId: string, questionId: string, answer: HostAnswer): Promise<SessionView> {
    const served = await this.find(sessionId);
    served.questions.answer(questionId, answer);
    return served.view();
  }

  async abort(sessionId: string): Promise<SessionView> {
    const served = await this.find(sessionId);
    await served.session?.abort();
    return served.view();
  }

  async events(sessionId: string, request: { readonly cursor?: string | undefined; readonly max: number }) {
    const { session } = await this.find(sessionId);
    if (!session) throw new Error(`There is no session ${sessionId}`);
    const { cursor, max } = request;
    return session.call('session.eventLog.read', { max, ...(cursor !== undefined && { cursor }) });
  }

  async list(limit: number) {
    const sessions = await this.client.listSessions();
    return sessions.slice(0, limit);
  }

  /** Sessions of earlier processes are opened again; what waited there goes on. */
  private find(sessionId: string): Promise<Served> {
    const known = this.open.get(sessionId);
    if (known !== undefined) return known;
    const opening = this.resume(sessionId);
    this.open.set(sessionId, opening);
    opening.catch(() => this.open.delete(sessionId));
    return opening;
  }

  private async resume(sessionId: string): Promise<Served> {
    const served = new Served();
    served.session = await this.client.resumeSession(sessionId, {
      ...this.defaults,
      ...served.options(),
      continuePendingWork: true,
    });
    return served;
  }
}

/** One session and what is known of its turn. */
class Served {
  session: Session | undefined;
  readonly questions: Questions;
  private isBusy = false;
  private said: string | undefined;
  private failure: string | undefined;
  private readonly waiting = new Set<() => void>();
  private readonly reports = new Set<(line: string) => void>();

  constructor() {
    this.questions = new Questions(() => this.wake());
  }

  options() {
    return { ...this.questions.handlers(), onEvent: (event: SessionEvent) => this.take(event) };
  }

  async send(prompt: string, mode: 'enqueue' | 'immediate'): Promise<void> {
    this.isBusy = true;
    this.said = undefined;
    this.failure = undefined;
    await this.session?.send({ prompt, mode });
  }

  view(): SessionView {
    const questions = this.questions.list();
    const running = this.isBusy ? ('running' as const) : ('idle' as const);
    return {
      sessionId: this.session?.sessionId ?? '',
      status: questions.length > 0 ? 'question' : running,
      ...(this.said !== undefined && { answer: this.said }),
      ...(this.failure !== undefined && { error: this.failure }),
      questions,
    };
  }

  async settled(signal: AbortSignal, report: (line: string) => void): Promise<void> {
    this.reports.add(report);
    try {
      while (this.view().status === 'running' && !signal.aborted) await this.change(signal);
    } finally {
      this.reports.delete(report);
    }
  }

  private take(event: SessionEvent): void {
    if (event.agentId !== undefined) return;
    const { type, data } = event;
    if (type === 'assistant.turn_start') this.isBusy = true;
    else if (type === 'assistant.message' && data.content !== '') this.said = data.content;
    else if (type === 'session.error' && data.errorType !== 'notification') this.failure = data.message;
    else if (type === 'session.idle') this.isBusy = false;
    if (type === 'tool.execution_start') for (const report of this.reports) report(data.toolName);
    this.wake();
  }

  private wake(): void {
    for (const wake of [...this.waiting]) wake();
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
    });
  }
}
