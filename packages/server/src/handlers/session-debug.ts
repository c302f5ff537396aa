import type { Methods } from '@groundcrew/protocol';
import { collectLogs } from '../debug-bundle.js';
import type { SessionHandlers } from '../handler.js';

export const sessionDebugHandlers: SessionHandlers<Pick<Methods, 'session.debug.collectLogs'>> = {
  'session.debug.collectLogs': (wish, { session, environment, signal }) =>
    collectLogs(wish, { session, environment, signal }),
};
