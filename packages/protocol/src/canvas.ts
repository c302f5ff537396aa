import * as z from 'zod/mini';
import { once, openObject } from './schema.js';

/** A canvas that a client declares. */
export const canvasDeclaration = once(() =>
  openObject({
    id: z.string(),
    displayName: z.string(),
    description: z.string(),
    icon: z.nullish(z.string()),
    inputSchema: z.nullish(z.unknown()),
    actions: z.nullish(
      z.array(
        openObject({
          name: z.string(),
          description: z.nullish(z.string()),
          inputSchema: z.nullish(z.unknown()),
        }),
      ),
    ),
  }),
);
