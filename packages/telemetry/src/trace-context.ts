import { randomBytes } from 'node:crypto';

/** Where a span stands, as W3C trace context says it. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  readonly state?: string;
}

/** As it goes over a wire. */
export interface Carried {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** What a client sent, where it can be read; anything else counts as none. */
export function readContext({ traceparent, tracestate }: Carried): SpanContext | undefined {
  const [, version, traceId, spanId, flags, rest] = form.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined || version === 'ff')
    return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || (version === '00' && rest !== undefined))
    return undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  const state = readState(tracestate);
  return { traceId, spanId, isSampled, ...(state !== undefined && { state }) };
}

/** It becomes a header of model calls: what cannot be one is left out, as the specification wants it. */
function readState(tracestate: string | undefined): string | undefined {
  const isState = tracestate !== undefined && tracestate.length <= longestState && stateForm.test(tracestate);
  return isState ? tracestate : undefined;
}

const longestState = 512;
const stateForm = /^[\t ]*[a-z\d][\w\-*/@]*=[ -~]+$/;

/** The same as others read it. */
export function writeContext({ traceId, spanId, isSampled, state }: SpanContext): {
  readonly traceparent: string;
  readonly tracestate?: string;
} {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return { traceparent, ...(state !== undefined && { tracestate: state }) };
}

export const newTraceId = (): string => randomBytes(16).toString('hex');
export const newSpanId = (): string => randomBytes(8).toString('hex');
