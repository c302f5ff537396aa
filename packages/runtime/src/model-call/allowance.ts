import type { Price } from '@groundcrew/models';
import {
  describeLimit,
  judgeCall,
  type LimitsAnswer,
  limitsAfter,
  limitsChanged,
  type SessionLimits,
  type SpentLimit,
} from '../budget/limits.js';
import { type Totals, totalsOf, withReserved } from '../budget/spending.js';
import { limitsStatus } from '../budget/status.js';
import type { AgentLog } from '../log/agent-log.js';
import type { Draft } from '../log/session-log.js';
import type { Allowance, Cap, ModelCallParts, ModelCallRequest } from './call-request.js';

/** A limit of the session is spent, and no user wants to raise it. */
export class LimitsExhausted extends Error {
  override readonly name = 'LimitsExhausted';
}

/** An agent has reached its limit and ends with the result so far. */
export class CapReached extends Error {
  override readonly name = 'CapReached';
}

/** The call that is to be made. */
interface Call extends Pick<ModelCallParts, 'log' | 'questions' | 'clock' | 'caps'> {
  readonly request: ModelCallRequest;
  readonly price: Promise<Price | undefined>;
}

/**
 * What the next call may take: it is set aside in the log before the call is made. When a limit is spent, users are
 * asked until there is room again. Throws LimitsExhausted when they want no more of it.
 */
export async function seekAllowance(call: Call, signal: AbortSignal): Promise<Allowance> {
  for (;;) {
    const found = await findAllowance(call);
    if ('estimatedInput' in found) return found;
    if (call.request.isOptional) throw spentLimit(found);
    await askAboutLimit(found, call, signal);
  }
}

/** What the next call may take, or the limit that is in its way. */
export async function findAllowance({ log, request, price, caps }: Call): Promise<Allowance | SpentLimit> {
  const estimatedInput = estimateInput(log, request);
  const isLimited = () => Object.keys(log.latestSession.limits).length > 0;
  if (!isLimited() && !caps?.().length) return { estimatedInput };
  const [known] = await Promise.all([price, log.stored()]);
  // Nothing is waited for from here to the record: agents that work side by side share what is left.
  const capped = roomUnder(caps?.() ?? [], { request, price: known, estimatedInput });
  const { limits } = log.latestSession;
  const totals = committed(log);
  const estimate = {
    model: request.model,
    inputTokens: estimatedInput,
    price: known && estimatedInput > (known.maxPrompt ?? Number.POSITIVE_INFINITY) ? undefined : known,
  };
  const verdict = judgeCall(limits, totals, estimate);
  if (verdict.type === 'spent') return verdict.spent;
  if (verdict.type === 'unpriced') throw unpriced(verdict.model);
  const cost = (estimatedInput * (known?.input ?? 0)) / 1_000_000;
  log.append({ note: 'ask.reserved', data: { tokens: estimatedInput, cost } });
  await log.stored();
  const room = Math.min(verdict.maxOutputTokens ?? Number.POSITIVE_INFINITY, capped);
  return {
    estimatedInput,
    ...(isLimited() && { remark: limitsStatus(limits, totals, estimate) }),
    ...outputOf(Number.isFinite(room) ? room : undefined, request),
  };
}

/**
 * What the session has spent, and what its agents have set aside: for calls that they wait for, or that were cut off with their
 * process. The agent that asks waits for none.
 */
function committed({ latestSession: { agents, spending } }: AgentLog): Totals {
  return Object.values(agents).reduce<Totals>(
    (sum, { spending: own }) => withReserved(sum, own),
    totalsOf(spending),
  );
}

/** How long an answer may be by an agent's caps. Throws CapReached when there is no room for one. */
function roomUnder(
  caps: readonly Cap[],
  call: {
    readonly request: ModelCallRequest;
    readonly price: Price | undefined;
    readonly estimatedInput: number;
  },
): number {
  const { request, estimatedInput: inputTokens, price } = call;
  const estimate = { model: request.model, inputTokens, price };
  const rooms = caps.map(({ limits, totals, owner }) => {
    const verdict = judgeCall(limits, totals, estimate);
    if (verdict.type === 'unpriced') throw unpriced(verdict.model);
    if (verdict.type === 'spent') throw new CapReached(`${owner} has spent ${describeLimit(verdict.spent)}`);
    return verdict.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  });
  return Math.min(Number.POSITIVE_INFINITY, ...rooms);
}

/** Services count as they count: the last call shows by how much an estimate is wrong. */
export function estimateInput(log: AgentLog, request: ModelCallRequest): number {
  const estimate = request.estimate();
  const { last } = log.state.spending;
  if (!last || last.model !== request.model || last.inputTokens === 0 || last.estimatedInput === 0)
    return estimate;
  return Math.ceil((estimate * last.inputTokens) / last.estimatedInput);
}

/** Answers of unknown models may be expected to be shorter than this. */
const longestUnknown = 32_768;

/** A bound above what the model gives would only be refused. */
function outputOf(room: number | undefined, { info }: ModelCallRequest): Pick<Allowance, 'maxOutputTokens'> {
  if (room === undefined || room >= (info?.maxOutputTokens ?? longestUnknown)) return {};
  return { maxOutputTokens: room };
}

/** Resolves when the limits are others; the same question waits again after a restart. */
async function askAboutLimit(
  spent: SpentLimit,
  { log, questions, clock }: Call,
  signal: AbortSignal,
): Promise<void> {
  const asked = log.state.questions.find((question) => question.kind === 'session_limits');
  const requestId = asked?.requestId ?? clock.newId();
  const settle = (answer: LimitsAnswer): boolean => {
    const limits = limitsAfter(log.session.limits, spent, answer);
    log.append(...answered(requestId, answer, limits));
    return limits !== undefined;
  };
  const decided = questions.ask({ kind: 'session_limits', requestId }, settle, signal);
  const event = { requestId, ...wordsOf(spent, log.session.limits, totalsOf(log.session.spending).cost) };
  log.append(...(asked ? [] : [{ note: 'limits.asked' as const, data: event }]), {
    type: 'session_limits_exhausted.requested',
    data: event,
  });
  if (!(await decided)) throw spentLimit(spent);
  await log.stored();
}

function answered(requestId: string, answer: LimitsAnswer, limits: SessionLimits | undefined): Draft[] {
  const completed: Draft = {
    type: 'session_limits_exhausted.completed',
    data: { requestId, response: answer },
  };
  if (!limits) return [completed];
  return [completed, { type: 'session.session_limits_changed', data: limitsChanged(limits) }];
}

/** Credits are sent whichever limit it is: clients that know no other rely on them. */
function wordsOf({ limit, max, used }: SpentLimit, limits: SessionLimits, dollars: number) {
  return { maxAiCredits: limits.maxAiCredits ?? 0, usedAiCredits: dollars * 100, limit, max, used };
}

function spentLimit(spent: SpentLimit): LimitsExhausted {
  return new LimitsExhausted(`The session has spent its limit of ${describeLimit(spent)}.`);
}

function unpriced(model: string): LimitsExhausted {
  return new LimitsExhausted(
    `The session has a limit on money, and what ${model} costs is not known: name its price in config.json (prices), or limit tokens or calls instead.`,
  );
}
