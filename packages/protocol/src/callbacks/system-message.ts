import * as z from 'zod/mini';
import { method } from '../define.js';
import { once, openObject } from '../schema.js';

/** The client rewrites parts of the system prompt. */
export const systemMessageCallbacks = {
  'systemMessage.transform': method(
    'Shows the sections of the system prompt; what comes back replaces them.',
    () => openObject({ sessionId: z.string(), sections: sections() }),
    () => openObject({ sections: sections() }),
  ),
};

const sections = once(() => z.record(z.string(), openObject({ content: z.string() })));
