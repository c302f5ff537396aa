import * as z from 'zod/mini';
import { method } from '../define.js';
import { text } from '../fields.js';
import { modelInfo } from '../model.js';
import { openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';

/** Models, whatever the session. */
export const modelsMethods = {
  'models.list': method(
    'The models one may choose.',
    () => sparseObject({ selectionId: text, gitHubToken: text }),
    () => openObject({ models: z.array(modelInfo()) }),
  ),
};
