import { FramingError } from '@groundcrew/rpc';

/** A page gets texts, which are read at once: nothing is ever parsed in steps. */
export async function parseSlowly(): Promise<never> {
  throw new FramingError('json', 'A browser reads messages whole');
}

/** What is wrong with a message that is nested too deep. */
export function tooDeep(most: number): FramingError {
  return new FramingError('too_deep', `Parse error: the message nests deeper than ${most} levels`);
}
