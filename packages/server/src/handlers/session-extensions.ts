import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

type Names =
  | 'session.extensions.disable'
  | 'session.extensions.enable'
  | 'session.extensions.list'
  | 'session.extensions.reload';

export const sessionExtensionsHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.extensions.list'({ sessionId }, { extensions }) {
    return { extensions: extensions.list(sessionId) };
  },
  async 'session.extensions.enable'({ id }, { session, extensions }) {
    await extensions.enable(session, id);
    return null;
  },
  async 'session.extensions.disable'({ id }, { session, extensions }) {
    await extensions.disable(session, id);
    return null;
  },
  async 'session.extensions.reload'(_params, { session, extensions }) {
    await extensions.reload(session);
    return null;
  },
};
