import type { Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { Handlers } from '../handler.js';

export const sessionFsHandlers: Handlers<Pick<Methods, 'sessionFs.setProvider'>> = {
  async 'sessionFs.setProvider'(params, { client, runtime }) {
    const { initialCwd, sessionStatePath, conventions, capabilities } = params;
    if (sessionStatePath === '') throw new Refusal("sessionFs: 'sessionStatePath' is empty");
    if (conventions !== 'posix' && conventions !== 'windows')
      throw new Refusal(`sessionFs: 'conventions' is 'posix' or 'windows', not '${conventions}'`);
    const hosting = {
      statePath: sessionStatePath,
      separator: conventions === 'windows' ? ('\\' as const) : ('/' as const),
      hasTables: capabilities?.sqlite ?? false,
    };
    // A client that comes back finds sessions at work whose files it stores.
    if (runtime.liveSessions.some((session) => session.hosting.statePath !== sessionStatePath))
      throw new Refusal('sessionFs: the session file system must be set before sessions are open');
    client.hosting = { ...hosting, initialCwd };
    return { success: true };
  },
};
