import { type HookInput, type Hooks, outputsOf } from './hooks.js';

/** What hooks want to be done about an error. */
export interface ErrorHandling {
  readonly action?: 'retry' | 'skip' | 'abort';
  /** How often to try again, at most; the runtime has a bound of its own. */
  readonly retryCount: number;
}

/** Tries that hooks may ask for, whatever they ask for. */
const mostHookRetries = 5;

/** Reports an error to hooks; the strongest wish counts: abort, then skip, then retry. */
export async function reportError(
  hooks: Hooks,
  input: HookInput<'errorOccurred'>,
  signal: AbortSignal,
): Promise<ErrorHandling> {
  const answers = await hooks.run('errorOccurred', input, signal);
  const wishes = outputsOf(answers);
  const action = (['abort', 'skip', 'retry'] as const).find((each) =>
    wishes.some(({ errorHandling }) => errorHandling === each),
  );
  const counts = wishes.flatMap(({ retryCount }) => retryCount ?? []);
  const retryCount = Math.min(mostHookRetries, Math.max(0, ...(counts.length > 0 ? counts : [1])));
  return { retryCount, ...(action && { action }) };
}
