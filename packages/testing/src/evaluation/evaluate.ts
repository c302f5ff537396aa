import { performance } from 'node:perf_hooks';
import { type SessionEvent, type SessionOptions, transcriptOf } from '@groundcrew/sdk';
import type { Check, CheckContext } from './checks.js';
import { type EvaluateOptions, requireSound } from './dataset.js';
import { Evaluation } from './evaluation.js';
import type { CheckedTurn, EvaluatedCase, EvaluatedTurn, Verdict } from './outcome.js';

/**
 * Tries every prompt of a dataset with every variant, each in a new session, and checks what came of it. A turn that fails is
 * a failed case, not an exception.
 *
 * @example
 * const evaluation = await evaluate({ client, dataset: [{ prompt: 'What is 1+1?', checks: [contains('2')] }], variants: { now: {} } });
 * console.log(evaluation.table());
 */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  const jobs = jobsOf(options);
  const signal = options.signal ?? new AbortController().signal;
  const cases: EvaluatedCase[] = [];
  const waiting = jobs.map((job, index) => ({ job, index }));
  let done = 0;
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      signal.throwIfAborted();
      cases[next.index] = await runCase(next.job, { ...options, signal });
      signal.throwIfAborted();
      done += 1;
      options.onProgress?.({ done, of: jobs.length });
    }
  };
  // What ends the evaluation ends it for all: nothing more is begun, and what has begun is over when this one is.
  const stop = (): void => void waiting.splice(0);
  const lanes = Array.from({ length: options.concurrency ?? 4 }, () => lane().finally(stop));
  const ended = await Promise.allSettled(lanes);
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
  return new Evaluation(cases);
}

interface Job {
  readonly name: string;
  readonly variant: string;
  readonly attempt: number;
  readonly session: SessionOptions;
  readonly prompt: string;
  readonly checks: readonly Check[];
}

function jobsOf(options: EvaluateOptions): readonly Job[] {
  requireSound(options);
  const { dataset, variants, attempts = 1 } = options;
  return dataset.flatMap(({ prompt, checks, name = prompt }) =>
    Object.entries(variants).flatMap(([variant, session]) =>
      Array.from({ length: attempts }, (_, index) => ({
        name,
        variant,
        attempt: index + 1,
        session,
        prompt,
        checks,
      })),
    ),
  );
}

async function runCase(
  { session, checks, ...job }: Job,
  options: EvaluateOptions & { readonly signal: AbortSignal },
): Promise<EvaluatedCase> {
  const turn = await runTurn(job.prompt, session, options);
  const context = { client: options.client, signal: options.signal };
  const checked: CheckedTurn[] = [];
  for (const check of checks) checked.push(await runCheck(check, turn, context));
  const passed = turn.error === undefined && checked.every((each) => each.passed);
  return { name: job.name, variant: job.variant, attempt: job.attempt, passed, turn, checks: checked };
}

/** A check that throws, or says neither yes nor no, has not passed. */
async function runCheck(check: Check, turn: EvaluatedTurn, context: CheckContext): Promise<CheckedTurn> {
  try {
    const verdict: Partial<Verdict> | undefined = await check.judge(turn, context);
    if (typeof verdict?.passed !== 'boolean')
      return { check: check.name, passed: false, reason: 'The check gave no verdict' };
    const { passed, reason } = verdict;
    // An app's own check may say anything.
    return { check: check.name, passed, ...(reason !== undefined && { reason: String(reason) }) };
  } catch (error) {
    context.signal.throwIfAborted();
    return { check: check.name, passed: false, reason: `The check failed: ${messageOf(error)}` };
  }
}

async function runTurn(
  prompt: string,
  settings: SessionOptions,
  { client, timeout = 120_000, signal }: EvaluateOptions & { readonly signal: AbortSignal },
): Promise<EvaluatedTurn> {
  const events: SessionEvent[] = [];
  const began = performance.now();
  let error: string | undefined;
  const onEvent = (event: SessionEvent) => {
    events.push(event);
    settings.onEvent?.(event);
  };
  try {
    const session = await client.createSession({ ...settings, onEvent });
    try {
      await session.sendAndWait(prompt, timeout, signal);
    } finally {
      await session.disconnect();
    }
  } catch (failure) {
    signal.throwIfAborted();
    error = messageOf(failure);
  }
  return { prompt, ...factsOf(events, performance.now() - began), ...(error !== undefined && { error }) };
}

function factsOf(events: readonly SessionEvent[], milliseconds: number): Omit<EvaluatedTurn, 'prompt'> {
  const { main, agents, usage } = transcriptOf(events);
  const items = [main, ...agents].flatMap((agent) => agent.items);
  const answer = main.items.findLast((item) => item.type === 'message');
  return {
    answer: answer?.type === 'message' ? answer.text : '',
    calls: items.flatMap((item) =>
      item.type === 'tool'
        ? [{ name: item.name, arguments: item.arguments, succeeded: item.state === 'succeeded' }]
        : [],
    ),
    milliseconds: Math.round(milliseconds),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cost: usage.cost,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
