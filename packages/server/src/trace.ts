import type { Session } from '@groundcrew/runtime';

type SendOptions = Parameters<Session['send']>[1];

/** The trace a client works in; undefined when it names none, and one that no HTTP header can carry counts as none. */
export function traceFrom(params: {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}): NonNullable<SendOptions['trace']> | undefined {
  const { traceparent, tracestate } = params;
  if (!isHeaderValue(traceparent)) return undefined;
  return { traceparent, ...(isHeaderValue(tracestate) && { tracestate }) };
}

function isHeaderValue(text: string | undefined): text is string {
  return text !== undefined && /^[\x20-\x7e]+$/.test(text);
}
