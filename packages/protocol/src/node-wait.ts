import * as z from 'zod/mini';
import { once, openObject } from './schema.js';

/** No live node can go on with the session: what each of them lacks. */
export const nodeWait = once(() =>
  openObject({
    kind: z.literal('node'),
    since: z.string(),
    message: z.string(),
    nodes: z.array(
      openObject({
        /** Machine and process. */
        node: z.string(),
        missing: z.array(
          openObject({ kind: z.enum(['label', 'provider', 'directory', 'client']), name: z.string() }),
        ),
      }),
    ),
  }),
);
