import * as z from 'zod/mini';
import type { Immutable } from '../json.js';
import { once, openObject } from '../schema.js';

/** What surrounds the data of every event, on the wire and in the log. */
export const eventEnvelope = once(() =>
  openObject({
    id: z.uuid(),
    timestamp: z.iso.datetime(),
    /** The last durable event before this one; null only for the first. */
    parentId: z.nullable(z.uuid()),
    /** Set when the event is in no log. A durable kind may be sent this way too. */
    ephemeral: z.optional(z.literal(true)),
    /** The subagent it happened in; absent for the main agent. */
    agentId: z.optional(z.string()),
    type: z.string(),
    data: z.unknown(),
  }),
);

/** An event whose kind is not known to the reader. */
export type AnyEvent = Immutable<z.output<ReturnType<typeof eventEnvelope>>>;

/** The envelope of one known kind. */
export interface Envelope<Type extends string, Data> extends Omit<AnyEvent, 'type' | 'data'> {
  readonly type: Type;
  readonly data: Data;
}
