import {
  costOf,
  ModelError,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type Price,
} from '@groundcrew/models';
import type { ModelAccess, Runtime } from '@groundcrew/runtime';
import { type Access, type AdmittedRequest, QuotaExceeded } from '@groundcrew/server';
import type { DayUse, Quotas } from '@groundcrew/tenants';

/** What quotas stand on. */
export interface QuotaParts {
  /** As they are set now. */
  quotas(): Quotas;
  /** What the tenant has used today. */
  used(): DayUse;
  /** Keeps what a call took. */
  add(use: DayUse): void;
}

/** Holds a tenant to what it may use up. */
export class TenantQuotas {
  private making: Promise<void> = Promise.resolve();
  private readonly starting = new Set<string>();

  constructor(private readonly parts: QuotaParts) {}

  readonly admit: NonNullable<Access['admit']> = async (request, runtime) => {
    if (isMaking(request)) return this.admitSession(runtime);
    if (startsTurn.has(request.method)) return this.admitTurn(request, runtime);
    return undefined;
  };

  /** The same way to models, within what the tenant may use in a day. */
  watch(access: ModelAccess, priceOf: (model: string) => Promise<Price | undefined>): ModelAccess {
    const { withChanges } = access;
    const provider = (): ModelProvider => {
      const own = access.provider;
      return {
        id: own.id,
        models: (signal) => own.models(signal),
        stream: (request, signal) => this.counted(own, { request, signal, priceOf }),
      };
    };
    return Object.create(access, {
      provider: { get: provider, enumerable: true },
      ...(withChanges && {
        withChanges: {
          value: (...args: Parameters<typeof withChanges>) =>
            this.watch(withChanges.apply(access, args), priceOf),
          enumerable: true,
        },
      }),
    }) as ModelAccess; // the same, but for what is put over it here
  }

  private async *counted(
    provider: ModelProvider,
    {
      request,
      signal,
      priceOf,
    }: {
      readonly request: ModelRequest;
      readonly signal: AbortSignal;
      priceOf(model: string): Promise<Price | undefined>;
    },
  ): AsyncGenerator<readonly ModelEvent[]> {
    const over = this.overDay();
    if (over !== undefined) throw new ModelError('quota', over);
    const price = await priceOf(request.model);
    if (this.parts.quotas().costPerDay !== undefined && price === undefined)
      throw new ModelError(
        'quota',
        `The tenant may use so much money a day, and what the model ${request.model} costs is not known.`,
      );
    for await (const events of provider.stream(request, signal)) {
      for (const event of events)
        if (event.type === 'end') {
          const { inputTokens, outputTokens } = event.usage;
          const cost = costOf(event.usage, price) ?? 0;
          this.parts.add({ day: this.parts.used().day, tokens: inputTokens + outputTokens, cost });
        }
      yield events;
    }
  }

  /** One after the other, so that two do not take the same last place. */
  private async admitSession(runtime: Runtime): Promise<(() => void) | undefined> {
    const { sessions: most } = this.parts.quotas();
    if (most === undefined) return undefined;
    const before = this.making;
    let done: () => void = () => undefined;
    this.making = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    const { length } = await runtime.list({ includeEmpty: true }).catch((error: unknown) => {
      done();
      throw error;
    });
    if (length < most) return done;
    done();
    throw new QuotaExceeded(`The tenant has ${length} sessions, and may have ${most}: delete some first.`);
  }

  private async admitTurn({ params }: AdmittedRequest, runtime: Runtime): Promise<(() => void) | undefined> {
    const over = this.overDay();
    if (over !== undefined) throw new QuotaExceeded(over);
    const { concurrentTurns: most } = this.parts.quotas();
    const { sessionId = '' } = params as { readonly sessionId?: string };
    // A prompt for a session that is at work waits in its queue.
    if (most === undefined || !runtime.find(sessionId) || runtime.find(sessionId)?.isRunning)
      return undefined;
    const running = new Set(
      runtime.liveSessions.filter((each) => each.isRunning).map((each) => each.sessionId),
    );
    for (const each of this.starting) running.add(each);
    if (running.size >= most)
      throw new QuotaExceeded(`The tenant has ${running.size} turns at work, and may have ${most} at once.`);
    this.starting.add(sessionId);
    return () => void this.starting.delete(sessionId);
  }

  private overDay(): string | undefined {
    const { tokensPerDay, costPerDay } = this.parts.quotas();
    const { tokens, cost } = this.parts.used();
    if (tokensPerDay !== undefined && tokens >= tokensPerDay)
      return `The tenant has used ${tokens} tokens today, and may use ${tokensPerDay} a day (UTC).`;
    if (costPerDay !== undefined && cost >= costPerDay)
      return `The tenant has used $${cost.toFixed(4)} today, and may use $${costPerDay} a day (UTC).`;
    return undefined;
  }
}

function isMaking({ method, params }: AdmittedRequest): boolean {
  if (method === 'sessions.open') return (params as { readonly kind?: unknown }).kind === 'create';
  return method === 'session.create' || method === 'sessions.fork' || method === 'sessions.import';
}

/** What may begin a turn of a session that is idle. */
const startsTurn: ReadonlySet<string> = new Set([
  'session.commands.enqueue',
  'session.commands.execute',
  'session.commands.invoke',
  'session.factory.run',
  'session.fleet.start',
  'session.queue.appendSteering',
  'session.send',
  'session.tasks.startAgent',
  'session.ui.ephemeralQuery',
]);
