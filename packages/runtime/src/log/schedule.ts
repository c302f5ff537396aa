import type { EventOf } from '@groundcrew/protocol';

/** A prompt that comes by itself: once, or again and again. */
export interface Schedule {
  readonly id: number;
  readonly prompt: string;
  /** What users are shown in its place. */
  readonly displayPrompt?: string;
  /** Milliseconds between two of them. */
  readonly intervalMs?: number;
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly cron?: string;
  /** The time zone that the fields are meant in. */
  readonly tz?: string;
  /** The one time at which it comes. */
  readonly at?: number;
  readonly recurring: boolean;
  /** When it comes next, in milliseconds since 1970; 0 until that is known. */
  readonly nextRunAt: number;
}

/** A schedule as its event describes it. */
export function scheduleOf({ data, timestamp }: EventOf<'session.schedule_created'>): Schedule {
  const { id, prompt, displayPrompt, intervalMs, cron, tz, at, recurring = at === undefined } = data;
  const first = intervalMs === undefined ? 0 : Date.parse(timestamp) + intervalMs;
  return {
    id,
    prompt,
    recurring,
    nextRunAt: at ?? first,
    ...(displayPrompt !== undefined && { displayPrompt }),
    ...(intervalMs !== undefined && { intervalMs }),
    ...(cron !== undefined && { cron }),
    ...(tz !== undefined && { tz }),
    ...(at !== undefined && { at }),
  };
}
