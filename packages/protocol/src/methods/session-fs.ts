import { method } from '../define.js';
import { flag, text } from '../fields.js';
import { openEnum } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { success } from './session-ref.js';

/** A client that stores what sessions keep for themselves. */
export const sessionFsMethods = {
  'sessionFs.setProvider': method(
    'This connection stores the state files of the sessions it opens from now on.',
    () =>
      sparseObject(
        { capabilities: () => sparseObject({ sqlite: flag }, {}) },
        {
          initialCwd: text,
          sessionStatePath: text,
          conventions: () => openEnum(['posix', 'windows']),
        },
      ),
    success,
  ),
};
