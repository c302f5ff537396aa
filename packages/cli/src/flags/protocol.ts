import { UsageError } from './arguments.js';

/** A version of the protocol that clients speak. */
export type Protocol = 1 | 2 | 3;

/** Reads the value of `--protocol` or GROUNDCREW_PROTOCOL; throws UsageError. */
export function readProtocol(value: string, name: string): Protocol {
  const found = protocols.find((protocol) => String(protocol) === value);
  if (!found) throw new UsageError(`${name}: expected 1, 2 or 3, not ${JSON.stringify(value)}`);
  return found;
}

const protocols: readonly Protocol[] = [1, 2, 3];
