import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';

/** The client holds the key of a model service. */
export const providerTokenCallbacks = {
  'providerToken.getToken': method(
    'Asks for a token before each call of this provider; `default` is the only one without a name.',
    () => openObject({ sessionId: z.string(), providerName: z.string() }),
    () => openObject({ token: z.string() }),
  ),
};
