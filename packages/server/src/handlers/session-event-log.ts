import { randomUUID } from 'node:crypto';
import type { Methods } from '@groundcrew/protocol';
import { cursorText, isBackward, readBackward, readForward } from '../event-pages.js';
import type { SessionHandlers } from '../handler.js';

type Names =
  | 'session.eventLog.read'
  | 'session.eventLog.registerInterest'
  | 'session.eventLog.releaseInterest'
  | 'session.eventLog.tail';

const longestWait = 60_000;

export const sessionEventLogHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.eventLog.tail'(_params, { session }) {
    session.readers.ephemerals.isWanted = true;
    const { seq } = await session.state();
    return { cursor: cursorText({ seq, number: session.readers.ephemerals.tail }) };
  },
  async 'session.eventLog.read'(params, { session, signal }) {
    session.readers.ephemerals.isWanted = true;
    if (isBackward(params)) return (await readBackward(session, params)).result();
    const deadline = performance.now() + Math.min(params.waitMs ?? 0, longestWait);
    for (;;) {
      const page = await readForward(session, params);
      const removed = deadline - performance.now();
      if (page.events.length > 0 || removed <= 0 || signal.aborted) return page.result();
      await session.readers.waitForEvent(removed, signal);
    }
  },
  async 'session.eventLog.registerInterest'({ eventType }, { session, client }) {
    const handle = `interest-${randomUUID()}`;
    session.readers.addInterest(handle, { eventType, clientId: client.id });
    return { handle };
  },
  async 'session.eventLog.releaseInterest'({ handle }, { session }) {
    session.readers.releaseInterest(handle);
    return { success: true };
  },
};
