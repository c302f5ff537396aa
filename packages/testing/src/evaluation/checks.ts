import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@groundcrew/sdk';
import type { EvaluatedTurn, Verdict } from './outcome.js';

/** What a check may use beside the turn itself. */
export interface CheckContext {
  /** The client that the evaluation runs with; a judge opens a session of its own on it. */
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** Something that has to hold for a turn. Apps may write their own. */
export interface Check {
  /** A short sentence for the table: what has to hold. */
  readonly name: string;
  judge(turn: EvaluatedTurn, context: CheckContext): Verdict | Promise<Verdict>;
}

/** A schema of zod, valibot, arktype or any other library that follows Standard Schema. */
export interface StandardSchema {
  readonly '~standard': {
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}

/** What such a schema says of a value. */
export interface StandardResult {
  readonly issues?:
    | readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[]
    | undefined;
}

/** The answer is exactly this text; white space around it does not count. */
export function exactly(text: string): Check {
  return check(`is exactly ${quoted(text)}`, ({ answer }) =>
    verdict(answer.trim() === text.trim(), `The answer is ${quoted(answer)}`),
  );
}

/** The answer has this text in it, or matches this pattern. */
export function contains(part: string | RegExp): Check {
  const found = (answer: string) =>
    typeof part === 'string' ? answer.includes(part) : answer.search(part) >= 0;
  return check(`contains ${typeof part === 'string' ? quoted(part) : part}`, ({ answer }) =>
    verdict(found(answer), `The answer is ${quoted(answer)}`),
  );
}

/** The answer is JSON that fits the schema; a code fence around it does not count. */
export function matchesSchema(schema: StandardSchema): Check {
  return check('fits the schema', async ({ answer }) => {
    const parsed = parsedJson(answer);
    if (!parsed) return { passed: false, reason: `The answer is no JSON: ${quoted(answer)}` };
    const { issues = [] } = await schema['~standard'].validate(parsed.value);
    const [first] = issues;
    return first ? { passed: false, reason: `${pathOf(first.path)}${first.message}` } : { passed: true };
  });
}

/** The agent has called this tool with success; where arguments are given, with at least these. */
export function usedTool(name: string, expected?: Readonly<Record<string, unknown>>): Check {
  const shown = expected === undefined ? '' : ` with ${JSON.stringify(expected)}`;
  return check(`uses ${name}${shown}`, ({ calls }) => {
    const used = calls.some(
      (call) => call.name === name && call.succeeded && hasAll(call.arguments, expected ?? {}),
    );
    const names = calls.map((call) => `${call.name}(${JSON.stringify(call.arguments)})`).join(', ');
    return verdict(used, calls.length === 0 ? 'No tool was called' : `The calls were ${names}`);
  });
}

/** The agent has not called this tool. */
export function didNotUse(name: string): Check {
  return check(`does not use ${name}`, ({ calls }) =>
    verdict(!calls.some((call) => call.name === name), `${name} was called`),
  );
}

function check(name: string, judge: Check['judge']): Check {
  return { name, judge };
}

function verdict(passed: boolean, reason: string): Verdict {
  return passed ? { passed } : { passed, reason };
}

function hasAll(given: unknown, expected: Readonly<Record<string, unknown>>): boolean {
  if (typeof given !== 'object' || given === null) return Object.keys(expected).length === 0;
  const fields = new Map(Object.entries(given));
  return Object.entries(expected).every(([name, value]) => isDeepStrictEqual(fields.get(name), value));
}

function parsedJson(answer: string): { readonly value: unknown } | undefined {
  const fenced = /^```\w*\n([\s\S]*)\n```$/.exec(answer.trim());
  try {
    return { value: JSON.parse(fenced?.[1] ?? answer) };
  } catch {
    return undefined;
  }
}

function pathOf(path: readonly unknown[] | undefined): string {
  if (!path || path.length === 0) return '';
  const keys = path.map((part) => (typeof part === 'object' && part && 'key' in part ? part.key : part));
  return `${keys.join('.')}: `;
}

function quoted(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return JSON.stringify(line.length > longestQuote ? `${line.slice(0, longestQuote)}…` : line);
}

const longestQuote = 120;
