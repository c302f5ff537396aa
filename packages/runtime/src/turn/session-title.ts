import type { SessionState } from '../log/state.js';
import type { AgentContext } from './agent-context.js';

/** What titles need. */
export interface TitleParts {
  /** Of the root agent, for a call that belongs to no prompt. */
  context(): AgentContext;
  /** Whether the session's model is to write the title. */
  isByModel(state: SessionState): boolean;
}

/** A session has to be idle for so long first: quick successions of prompts, and programs that end, make no such call. */
const quietMilliseconds = 2000;
/** How long the call may take. */
const longestCall = 60_000;
/** After so many prompts the session keeps the title it has. */
const mostPrompts = 3;

/** Has the model title a session that is idle, inside its limits; the next prompt cancels the call. */
export class SessionTitle {
  private timer: NodeJS.Timeout | undefined;
  private running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  private hasTried = false;

  constructor(private readonly parts: TitleParts) {}

  /** The session is idle. */
  offer(state: SessionState): void {
    if (this.hasTried || !isUntitled(state) || !this.parts.isByModel(state)) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.begin(), quietMilliseconds);
    this.timer.unref();
  }

  /** A prompt came, or the session closes; resolves when the call has ended. */
  async stop(): Promise<void> {
    clearTimeout(this.timer);
    this.running?.stop.abort();
    await this.running?.done;
  }

  private begin(): void {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(longestCall)]);
    const done = this.make(signal).then(
      () => {
        this.hasTried = true;
        this.running = undefined;
      },
      () => {
        // A failed call is reported by `model.call_failure`, and not made again; a prompt that came first is another matter.
        this.hasTried = !stop.signal.aborted;
        this.running = undefined;
      },
    );
    this.running = { stop, done };
  }

  private async make(signal: AbortSignal): Promise<void> {
    const { log, models, planner, session } = this.parts.context();
    if (!isUntitled(log.session)) return;
    const { titleFrom, titleRequest } = await import('./title-request.js');
    const request = titleRequest(log.session, planner.plan(), session);
    const answer = await models.call(request, signal);
    log.append(answer.usage, { note: 'ask.settled', data: { ...answer.settled, isAside: true } });
    const title = titleFrom(answer.text);
    if (title !== '' && isUntitled(log.latestSession)) {
      // Joined to the record, so that no client receives a title that a crash takes back.
      log.append(
        { note: 'settings.fixed', data: { name: title, isNamedByUser: false } },
        { type: 'session.title_changed', data: { title } },
      );
    }
    await log.stored();
  }
}

function isUntitled({ fixed, userTurns, summary }: SessionState): boolean {
  return fixed.name === undefined && summary !== undefined && userTurns <= mostPrompts;
}
