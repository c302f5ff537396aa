import type { Methods } from '@groundcrew/protocol';
import type { Handlers, SessionHandlers } from '../handler.js';

type Names =
  | 'session.extensions.disable'
  | 'session.extensions.enable'
  | 'session.extensions.list'
  | 'session.extensions.reconcile'
  | 'session.extensions.reload';

export const extensionsHandlers: Handlers<Pick<Methods, Extract<keyof Methods, `extensions.${string}`>>> = {
  async 'extensions.discover'(_params, { extensions }) {
    return extensions.discover();
  },
  async 'extensions.enable'({ ids }, { extensions }) {
    await extensions.switch(ids, true);
    return null;
  },
  async 'extensions.disable'({ ids }, { extensions }) {
    await extensions.switch(ids, false);
    return null;
  },
};

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
  async 'session.extensions.reconcile'({ sessionId }, { session, extensions }) {
    await extensions.reconcile(session);
    return { extensions: extensions.list(sessionId) };
  },
  async 'session.extensions.reload'(_params, { session, extensions }) {
    await extensions.reload(session);
    return null;
  },
};
