import { randomUUID } from 'node:crypto';
import {
  costOf,
  ModelError,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type Price,
} from '@groundcrew/models';
import type { MethodName } from '@groundcrew/protocol';
import { type ModelAccess, type Runtime, withProvider } from '@groundcrew/runtime';
import { type Access, type AdmittedRequest, QuotaExceeded } from '@groundcrew/server';
import type { DayUse, Quotas } from '@groundcrew/tenants';
import type { SharedMeter } from './shared-meter.js';

/** What quotas need. */
export interface QuotaParts {
  /** As they are set now. */
  quotas(): Quotas;
  /** What the tenant has used today. */
  used(): DayUse;
  /** Stores what a call used. */
  add(use: DayUse): void;
  /** A model call of a turn that is under way was refused. */
  onRefused(reason: string): void;
  /** Counts for all nodes, in place of `used` and `add`; unless given, each process counts for itself. */
  shared?(): SharedMeter | undefined;
}

/** Enforces the quotas of a tenant. */
export class TenantQuotas {
  private making: Promise<void> = Promise.resolve();
  private readonly starting = new Set<string>();

  constructor(private readonly parts: QuotaParts) {}

  readonly admit: NonNullable<Access['admit']> = async (request, runtime) => {
    if (isMaking(request)) return this.admitSession(request, runtime);
    if (mayStartTurn(request)) return this.admitTurn(request, runtime);
    return undefined;
  };

  /** The same access to models, within what the tenant may use in a day. */
  watch(access: ModelAccess, priceOf: (model: string) => Promise<Price | undefined>): ModelAccess {
    return withProvider(access, (own) => ({
      id: own.id,
      models: (signal) => own.models(signal),
      stream: (request, signal) => this.counted(own, { request, signal, priceOf }),
    }));
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
    const { day, ...used } = await this.usedToday();
    const over = this.overDay(used);
    if (over !== undefined) throw this.refused(over);
    const price = await priceOf(request.model);
    if (this.parts.quotas().costPerDay !== undefined && price === undefined)
      throw this.refused(
        `The tenant may use so much money a day, and what the model ${request.model} costs is not known.`,
      );
    for await (const events of provider.stream(request, signal)) {
      for (const event of events)
        if (event.type === 'end') {
          const { inputTokens, outputTokens } = event.usage;
          const cost = costOf(event.usage, price) ?? 0;
          const use = { day, tokens: inputTokens + outputTokens, cost };
          await (this.meter?.add(use) ?? this.parts.add({ ...use, day: this.parts.used().day }));
        }
      yield events;
    }
  }

  private refused(reason: string): ModelError {
    this.parts.onRefused(reason);
    return new ModelError('quota', reason);
  }

  private get meter(): SharedMeter | undefined {
    return this.parts.shared?.();
  }

  private async usedToday(): Promise<DayUse> {
    return this.meter?.used() ?? this.parts.used();
  }

  /** One after the other, so that two do not take the same last place. */
  private async admitSession(request: AdmittedRequest, runtime: Runtime): Promise<(() => void) | undefined> {
    const { sessions: most } = this.parts.quotas();
    if (most === undefined) return undefined;
    if (this.meter) return this.admitSessionOfAll(this.meter, request, most);
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
    throw tooManySessions(length, most);
  }

  private async admitSessionOfAll(
    meter: SharedMeter,
    request: AdmittedRequest,
    most: number,
  ): Promise<() => void> {
    const id = newIdIn(request) ?? randomUUID();
    const { others, leave } = await meter.take({ kind: 'session', sessionId: id }, most);
    if (!leave) throw tooManySessions(others, most);
    return leave;
  }

  private async admitTurn({ params }: AdmittedRequest, runtime: Runtime): Promise<(() => void) | undefined> {
    const over = this.overDay(await this.usedToday());
    if (over !== undefined) throw new QuotaExceeded(over);
    const { concurrentTurns: most } = this.parts.quotas();
    const { sessionId = '' } = params as { readonly sessionId?: string };
    // A prompt for a session that is at work waits in its queue.
    if (most === undefined || !runtime.find(sessionId) || runtime.find(sessionId)?.isRunning)
      return undefined;
    if (this.meter) {
      const { others, leave } = await this.meter.take({ kind: 'turn', sessionId }, most);
      if (!leave) throw tooManyTurns(others, most);
      return leave;
    }
    const running = new Set(
      runtime.liveSessions.filter((each) => each.isRunning).map((each) => each.sessionId),
    );
    for (const each of this.starting) running.add(each);
    if (running.size >= most) throw tooManyTurns(running.size, most);
    this.starting.add(sessionId);
    return () => void this.starting.delete(sessionId);
  }

  private overDay({ tokens, cost }: Pick<DayUse, 'tokens' | 'cost'>): string | undefined {
    const { tokensPerDay, costPerDay } = this.parts.quotas();
    if (tokensPerDay !== undefined && tokens >= tokensPerDay)
      return `The tenant has used ${tokens} tokens today, and may use ${tokensPerDay} a day (UTC).`;
    if (costPerDay !== undefined && cost >= costPerDay)
      return `The tenant has used $${cost.toFixed(4)} today, and may use $${costPerDay} a day (UTC).`;
    return undefined;
  }
}

const longestId = 200;

function tooManySessions(length: number, most: number): QuotaExceeded {
  return new QuotaExceeded(`The tenant has ${length} sessions, and may have ${most}: delete some first.`);
}

function tooManyTurns(length: number, most: number): QuotaExceeded {
  return new QuotaExceeded(`The tenant has ${length} turns at work, and may have ${most} at once.`);
}

/** The id that the new session will have; a fork names the session that it is of, which has a place already. */
function newIdIn({ method, params }: AdmittedRequest): string | undefined {
  if (method !== 'session.create' && method !== 'sessions.import') return undefined;
  const { sessionId } = params as { readonly sessionId?: unknown };
  return typeof sessionId === 'string' ? sessionId.slice(0, longestId) : undefined;
}

function isMaking({ method, params }: AdmittedRequest): boolean {
  if (method === 'sessions.open') return (params as { readonly kind?: unknown }).kind === 'create';
  return method === 'session.create' || method === 'sessions.fork' || method === 'sessions.import';
}

function mayStartTurn({ method, params }: AdmittedRequest): boolean {
  if (method === 'session.queue.setDrainPaused')
    return (params as { readonly paused?: unknown }).paused !== true;
  return startsTurn.has(method);
}

/** What may begin a turn, or other work of a model, in a session that is idle. */
const startsTurn: ReadonlySet<MethodName> = new Set([
  'session.commands.enqueue',
  'session.commands.execute',
  'session.commands.invoke',
  'session.factory.resume',
  'session.factory.run',
  'session.fleet.start',
  'session.history.compact',
  'session.history.summarizeForHandoff',
  'session.mcp.executeSampling',
  'session.queue.appendSteering',
  'session.queue.insertAt',
  'session.send',
  'session.sendAndWait',
  'session.sendMessages',
  'session.tasks.sendMessage',
  'session.tasks.startAgent',
  'session.ui.ephemeralQuery',
  'session.workflow.resume',
  'session.workflow.run',
]);
