import { performance } from 'node:perf_hooks';
import { type Client, type SessionEvent, type SessionOptions, transcriptOf } from '@groundcrew/sdk';
import { TestingError } from '../errors.js';
import type { Check, CheckContext } from './checks.js';
import { Evaluation } from './evaluation.js';
import type { CheckedTurn, EvaluatedCase, EvaluatedTurn, Verdict } from './outcome.js';

/** One prompt and what has to hold for the answer. */
export interface DatasetCase {
  /** For the table; the prompt itself without. */
  readonly name?: string;
  readonly prompt: string;
  readonly checks: readonly Check[];
}

/** What is evaluated, and how. */
export interface EvaluateOptions {
  readonly client: Client;
  readonly dataset: readonly DatasetCase[];
  /** The sessions that are compared, by name: two prompts, two models, with and without a tool. */
  readonly variants: Readonly<Record<string, SessionOptions>>;
  /** How often each case is tried with each variant; once without. */
  readonly attempts?: number;
  /** How many sessions run at once; 4 without. */
  readonly concurrency?: number;
  /** Milliseconds until a turn must have ended; two minutes without. */
  readonly timeout?: number;
  /** Called after each case, so that a long evaluation shows how far it is. */
  readonly onProgress?: (progress: { readonly done: number; readonly of: number }) => void;
  readonly signal?: AbortSignal;
}

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
      done += 1;
      options.onProgress?.({ done, of: jobs.length });
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? 4 }, lane));
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

function jobsOf({ dataset, variants, attempts = 1, concurrency = 4 }: EvaluateOptions): readonly Job[] {
  for (const [name, count] of Object.entries({ attempts, concurrency }))
    if (!Number.isInteger(count) || count < 1)
      throw new TestingError('not_as_expected', `${name} has to be a whole number above 0, not ${count}`);
  const silent = dataset.findIndex(({ prompt }) => typeof prompt !== 'string' || prompt.trim() === '');
  if (silent >= 0)
    throw new TestingError('not_as_expected', `Case ${silent + 1} of the dataset has no prompt`);
  const names = dataset.map(({ name, prompt }) => name ?? prompt);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new TestingError('not_as_expected', `Two cases are named '${twice}': give them names of their own`);
  if (dataset.length === 0 || Object.keys(variants).length === 0)
    throw new TestingError('not_as_expected', 'An evaluation needs at least one case and one variant');
  // A dataset may come from a file.
  const unchecked = dataset.findIndex(({ checks }) => !Array.isArray(checks) || checks.length === 0);
  if (unchecked >= 0)
    throw new TestingError(
      'not_as_expected',
      `The case '${names[unchecked]}' has no checks: it could not fail`,
    );
  return dataset.flatMap(({ prompt, checks }, at) =>
    Object.entries(variants).flatMap(([variant, session]) =>
      Array.from({ length: attempts }, (_, index) => ({
        name: names[at] ?? prompt,
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
    return { check: check.name, passed, ...(reason !== undefined && { reason }) };
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
