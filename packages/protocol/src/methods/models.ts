import * as z from 'zod';
import { method } from '../define.js';
import { modelInfo } from '../model.js';
import { openObject } from '../schema.js';

/** Models, whatever the session. */
export const modelsMethods = {
  'models.list': method(
    'The models one may choose.',
    () => openObject({ selectionId: z.string().optional(), gitHubToken: z.string().optional() }),
    () => openObject({ models: z.array(modelInfo()) }),
  ),
};
