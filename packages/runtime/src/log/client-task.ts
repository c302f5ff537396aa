/** What a client works on outside the runtime, as far as the session keeps it. */
export interface ClientTask {
  readonly id: string;
  /** Its owner's own name for it. */
  readonly clientTaskId: string;
  readonly description: string;
  readonly displayName?: string;
  readonly cancellable: boolean;
  readonly status: 'running' | 'idle' | 'completed' | 'failed' | 'cancelled' | 'orphaned';
  readonly owner: ClientTaskOwner;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly completedAt?: string;
  /** Milliseconds of work before it last began. */
  readonly activeMs: number;
  readonly activeStartedAt?: string;
  readonly idleSince?: string;
  readonly orphanedAt?: string;
  readonly reclaimedAt?: string;
  /** The number of its owner's newest update, and what that said, in short. */
  readonly sequence: number;
  readonly lastUpdate?: string;
  readonly phase?: string;
  readonly percentage?: number;
  readonly activity: readonly { readonly message: string; readonly timestamp: string }[];
  readonly result?: unknown;
  readonly error?: string;
  readonly errorCode?: string;
  readonly cancellationReason?: string;
}

/** Whose task it is. */
export interface ClientTaskOwner {
  /** The same for all connections of one extension, or of one app by its name. */
  readonly participantId: string;
  /** The connection that it was last bound to. */
  readonly joinId: string;
  readonly kind: 'extension' | 'sdk';
  readonly displayName?: string;
  readonly source?: string;
}

/** Its owner may still say something of it. */
export function isOpenTask({ status }: Pick<ClientTask, 'status'>): boolean {
  return status === 'running' || status === 'idle' || status === 'orphaned';
}

/** How long its owner has worked on it. */
export function workedMs({ activeMs, activeStartedAt }: ClientTask, now: string): number {
  if (activeStartedAt === undefined) return activeMs;
  return activeMs + Math.max(0, Date.parse(now) - Date.parse(activeStartedAt));
}

/** The owner says something of its task: progress, or how it ended. */
export type ClientTaskUpdate =
  | {
      readonly kind: 'progress';
      readonly status?: 'running' | 'idle' | undefined;
      readonly message?: string | undefined;
      readonly phase?: string | null | undefined;
      readonly percentage?: number | null | undefined;
    }
  | { readonly kind: 'completed'; readonly message?: string | undefined; readonly result?: unknown }
  | {
      readonly kind: 'failed';
      readonly message?: string | undefined;
      readonly error: string;
      readonly code?: string | undefined;
    }
  | {
      readonly kind: 'cancelled';
      readonly message?: string | undefined;
      readonly reason?: string | undefined;
    };

/** How many of its newest lines a task keeps. */
const mostLines = 50;

/** The task after an update. */
export function updatedTask(task: ClientTask, update: ClientTaskUpdate, now: string): ClientTask {
  const line = update.message ? [{ message: update.message, timestamp: now }] : [];
  const said = { ...task, updatedAt: now, activity: [...task.activity, ...line].slice(-mostLines) };
  if (update.kind === 'progress') return progressed(said, update, now);
  const { activeStartedAt: _, idleSince: __, ...rest } = said;
  return {
    ...rest,
    status: update.kind,
    activeMs: workedMs(task, now),
    completedAt: now,
    ...(update.kind === 'completed' && update.result !== undefined && { result: update.result }),
    ...(update.kind === 'failed' && { error: update.error }),
    ...(update.kind === 'failed' && update.code !== undefined && { errorCode: update.code }),
    ...(update.kind === 'cancelled' && update.reason !== undefined && { cancellationReason: update.reason }),
  };
}

function progressed(
  task: ClientTask,
  { status, phase, percentage }: Extract<ClientTaskUpdate, { kind: 'progress' }>,
  now: string,
): ClientTask {
  const { phase: phaseBefore, percentage: percentageBefore, ...rest } = task;
  const nextPhase = phase === undefined ? phaseBefore : (phase ?? undefined);
  const nextPercentage = percentage === undefined ? percentageBefore : (percentage ?? undefined);
  return {
    ...withStatus(rest, status ?? task.status, now),
    ...(nextPhase !== undefined && { phase: nextPhase }),
    ...(nextPercentage !== undefined && { percentage: nextPercentage }),
  };
}

/** The task at work, waiting, or without an owner; the time of its work goes on or is summed up. */
export function withStatus(task: ClientTask, status: ClientTask['status'], now: string): ClientTask {
  if (status === task.status) return task;
  const { activeStartedAt: _, idleSince: __, ...rest } = task;
  return {
    ...rest,
    status,
    updatedAt: now,
    activeMs: workedMs(task, now),
    ...(status === 'running' && { activeStartedAt: now }),
    ...(status === 'idle' && { idleSince: now }),
    ...(status === 'orphaned' && { orphanedAt: now }),
  };
}
