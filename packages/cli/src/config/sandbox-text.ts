import type { ExecutorChoice, SandboxSettings } from '@groundcrew/runtime';
import { UsageError } from '../flags/arguments.js';

/** What users call executors. */
export const sandboxWords = ['host', 'bwrap', 'seatbelt', 'auto', 'off'] as const;

/** Reads an executor by its name; `off` is `host`. Throws UsageError. */
export function readSandboxWord(value: string, name: string): SandboxSettings {
  return { executor: executorOf(value, name) };
}

/** The executor that a word means. Throws UsageError. */
export function executorOf(value: string, name: string): ExecutorChoice {
  const word = sandboxWords.find((each) => each === value);
  if (word === undefined)
    throw new UsageError(`${name} needs one of ${sandboxWords.join(', ')}, not ${value}`);
  return word === 'off' ? 'host' : word;
}
