import { setTimeout as after } from 'node:timers';
import type { Clock } from '../clock.js';
import type { Schedule } from '../log/schedule.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import type { Prompt, SessionState } from '../log/state.js';
import { nextCronTime } from './cron.js';

/** The session that gets the scheduled prompts. */
interface ScheduledSession {
  readonly openLog: SessionLog | undefined;
  readonly isReadOnly: boolean;
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
  send(prompt: Prompt, options: { readonly isIdempotent: boolean }): Promise<void>;
}

/** What is wanted of a schedule. */
export type ScheduleRequest = { readonly prompt: string; readonly displayPrompt?: string | undefined } & (
  | { readonly interval: string; readonly recurring?: boolean | undefined }
  | { readonly cron: string; readonly tz?: string | undefined; readonly recurring?: boolean | undefined }
  | { readonly at: number }
);

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const shortestInterval = 10_000;
/** Timers stand still while a machine sleeps, and clocks are set: the time is looked at again on the way. */
const longestWait = 60_000;
const shortestWait = 1000;
const partOfWait = 1 / 5;
const mostSchedules = 100;
/** After this time a prompt that the store could not take is tried again. */
const retryMs = 5000;

/**
 * Prompts that come at their times. They are events of the log, so they survive the process. The id of each prompt is made of
 * schedule and time, so a process that dies before the next time is written repeats nothing.
 */
export class SessionSchedules {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly session: ScheduledSession,
    private readonly clock: Clock,
  ) {}

  async list(): Promise<readonly Schedule[]> {
    return (await this.session.state()).schedules;
  }

  /** Resolves with the reason, as a sentence, when the request is not possible. */
  async add(request: ScheduleRequest): Promise<Schedule | string> {
    const now = this.clock.now().getTime();
    const timing = timingOf(request, now);
    if (typeof timing === 'string') return timing;
    const state = await this.session.state();
    if (state.schedules.length >= mostSchedules) return `A session has at most ${mostSchedules} schedules.`;
    const { nextRunAt, ...fields } = timing;
    const id = state.lastScheduleId + 1;
    const { prompt, displayPrompt } = request;
    const data = { id, ...fields, prompt, ...(displayPrompt !== undefined && { displayPrompt }) };
    await this.session.record(
      { type: 'session.schedule_created', data },
      { note: 'schedule.armed', data: { id, nextRunAt } },
    );
    this.arm();
    return { ...data, nextRunAt };
  }

  /** Undefined when there is none of this number. */
  async stop(id: number): Promise<Schedule | undefined> {
    const found = (await this.list()).find((each) => each.id === id);
    if (!found) return undefined;
    await this.session.record({ type: 'session.schedule_cancelled', data: { id } });
    this.arm();
    return found;
  }

  /** Waits for the next of them, while the session is in memory. */
  arm(): void {
    this.disarm();
    const times = this.open.map(({ nextRunAt }) => nextRunAt);
    if (times.length === 0 || this.session.isReadOnly) return;
    const left = Math.min(...times) - this.clock.now().getTime();
    const part = Math.max(shortestWait, left * partOfWait);
    this.wait(Math.min(Math.max(0, left), part, longestWait));
  }

  disarm(): void {
    clearTimeout(this.timer);
  }

  private wait(milliseconds: number): void {
    const run = () => {
      this.runDue().then(
        () => this.arm(),
        () => this.wait(retryMs),
      );
    };
    this.timer = after(run, milliseconds).unref();
  }

  private async runDue(): Promise<void> {
    const now = this.clock.now().getTime();
    for (const { id } of this.open) {
      // One may be stopped while another is sent.
      const schedule = this.open.find((each) => each.id === id);
      if (schedule && schedule.nextRunAt <= now) await this.run(schedule, now);
    }
  }

  /** Those of the log in memory, as it will be when all that was appended is stored. */
  private get open(): readonly Schedule[] {
    return this.session.openLog?.latest.schedules ?? [];
  }

  private async run(schedule: Schedule, now: number): Promise<void> {
    const { id, recurring, nextRunAt } = schedule;
    const next = recurring ? nextAfter(schedule, now) : undefined;
    const following: Draft =
      next === undefined
        ? { type: 'session.schedule_cancelled', data: { id } }
        : { note: 'schedule.armed', data: { id, nextRunAt: next } };
    const source = `schedule-${id}`;
    const isWaiting = this.session.openLog?.state.inbox.some((prompt) => prompt.source === source);
    // 0: the next time is not known yet, so nothing is due.
    const isDue = nextRunAt > 0 && !isWaiting;
    const warning = isDue ? await this.send(schedule, source) : undefined;
    const isStopped = !this.open.some((each) => each.id === id);
    await this.session.record(...(warning ? [warning] : []), ...(isStopped ? [] : [following]));
  }

  private send(schedule: Schedule, source: string): Promise<Draft | undefined> {
    const { id, prompt, displayPrompt, nextRunAt } = schedule;
    const heading = `[Scheduled prompt #${id}]\n`;
    const message: Prompt = {
      messageId: `${source}-${nextRunAt}`,
      text: heading + prompt,
      mode: 'enqueue',
      source,
      ...(displayPrompt !== undefined && { displayText: heading + displayPrompt }),
    };
    return this.session.send(message, { isIdempotent: true }).then(
      () => undefined,
      (error: Error): Draft => ({
        type: 'session.warning',
        data: { warningType: 'schedule', message: `Scheduled prompt #${id} was not sent: ${error.message}` },
      }),
    );
  }
}

type Timing = Omit<Schedule, 'id' | 'prompt' | 'displayPrompt'>;

function timingOf(request: ScheduleRequest, now: number): Timing | string {
  if ('at' in request)
    return isTime(request.at)
      ? { at: request.at, recurring: false, nextRunAt: request.at }
      : 'Invalid scheduled time.';
  const { recurring = true } = request;
  if ('interval' in request) {
    const [, count, unit = 'm'] = /^(\d+)([smhd]?)$/.exec(request.interval.trim()) ?? [];
    const intervalMs = Number(count ?? 0) * (units[unit || 'm'] ?? 0);
    if (intervalMs === 0) return `Invalid interval "${request.interval}". Try 30s, 5m, 2h, or 1d.`;
    if (intervalMs < shortestInterval) return 'Minimum interval is 10s.';
    if (!isTime(now + intervalMs)) return `Invalid interval "${request.interval}": it leads to no date.`;
    return { intervalMs, recurring, nextRunAt: now + intervalMs };
  }
  const { cron, tz } = request;
  const nextRunAt = nextCronTime(cron, now, tz);
  if (nextRunAt === undefined) return `Invalid cron expression "${cron}".`;
  return { cron, recurring, nextRunAt, ...(tz !== undefined && { tz }) };
}

/** What no calendar has could be stored, and no list could show it. */
function isTime(milliseconds: number): boolean {
  return !Number.isNaN(new Date(milliseconds).getTime());
}

/** Times that were missed do not come again: the next one is after now. */
function nextAfter({ intervalMs, cron, tz }: Schedule, now: number): number | undefined {
  if (intervalMs !== undefined) return now + intervalMs;
  return cron === undefined ? undefined : nextCronTime(cron, now, tz);
}
