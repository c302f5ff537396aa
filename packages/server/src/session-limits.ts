import type { Methods, ParsedParams } from '@groundcrew/protocol';
import type { SessionLimits } from '@groundcrew/runtime';

/** The limits that a client sets; undefined when it sends none, empty when it sends an object without any. */
export function limitsFrom(
  given: ParsedParams<Methods['session.options.update']>['sessionLimits'],
): SessionLimits | undefined {
  if (given === undefined) return undefined;
  const named = limitNames.flatMap((name) => {
    const value = given[name];
    return typeof value === 'number' ? [[name, value]] : [];
  });
  return Object.fromEntries(named);
}

/** The event that sets these limits; none at all is null. */
export function limitsChange(limits: SessionLimits): { readonly sessionLimits: SessionLimits | null } {
  return { sessionLimits: Object.keys(limits).length === 0 ? null : limits };
}

const limitNames = ['maxAiCredits', 'maxCost', 'maxTokens', 'maxCalls'] as const;
