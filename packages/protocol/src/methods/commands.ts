import { method } from '../define.js';
import { openObject } from '../schema.js';
import { sessionCommandsMethods } from './session-commands.js';

/** Slash commands without a session. */
export const commandsMethods = {
  'commands.list': method(
    'The commands that every session has.',
    () => openObject({}),
    () => sessionCommandsMethods['session.commands.list'].result(),
  ),
};
