import type { Client, SessionOptions } from '@groundcrew/sdk';
import { TestingError } from '../errors.js';
import type { Check } from './checks.js';

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

/** Throws with what is wrong with an evaluation before anything of it runs; a dataset may come from a file. */
export function requireSound(options: EvaluateOptions): void {
  const { attempts = 1, concurrency = 4, timeout = 1 } = options;
  for (const [name, count] of Object.entries({ attempts, concurrency }))
    if (!Number.isInteger(count) || count < 1)
      refuse(`${name} has to be a whole number above 0, not ${count}`);
  if (!(timeout > 0)) refuse(`timeout has to be a number of milliseconds above 0, not ${timeout}`);
  const { dataset, variants } = options as Partial<EvaluateOptions>; // what a file gives may be anything
  if (!Array.isArray(dataset)) refuse('The dataset has to be a list of cases');
  if (dataset.length === 0 || Object.keys(variants ?? {}).length === 0)
    refuse('An evaluation needs at least one case and one variant');
  const known = new Set<string>();
  dataset.forEach((each: unknown, at) => {
    const name = nameOf(each, `Case ${at + 1} of the dataset`);
    if (known.has(name)) refuse(`Two cases are named '${name}': give them names of their own`);
    known.add(name);
  });
}

/** The name of a case that can be tried. */
function nameOf(each: unknown, place: string): string {
  const { prompt, name = prompt, checks } = (each ?? {}) as Partial<DatasetCase>; // each field is looked at
  if (typeof prompt !== 'string' || prompt.trim() === '') refuse(`${place} has no prompt`);
  if (typeof name !== 'string') refuse(`${place} has a name that is no text`);
  if (!Array.isArray(checks) || checks.length === 0)
    refuse(`The case '${name}' has no checks: it could not fail`);
  const wrong = checks.findIndex((check: unknown) => !isCheck(check));
  if (wrong >= 0)
    refuse(`Check ${wrong + 1} of the case '${name}' is none: it needs a name, and a function judge`);
  return name;
}

function isCheck(given: unknown): given is Check {
  const { name, judge } = (given ?? {}) as Partial<Check>; // both are looked at
  return typeof name === 'string' && typeof judge === 'function';
}

function refuse(message: string): never {
  throw new TestingError('not_as_expected', message);
}
