import { randomUUID } from 'node:crypto';
import type { AnyEvent, Methods, ParsedParams } from '@groundcrew/protocol';
import { RawJson } from '@groundcrew/rpc';
import type { LogRecord, Session } from '@groundcrew/runtime';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Names =
  | 'session.eventLog.read'
  | 'session.eventLog.registerInterest'
  | 'session.eventLog.releaseInterest'
  | 'session.eventLog.tail';
type ReadParams = ParsedParams<Methods['session.eventLog.read']>;

const defaultPage = 100;
const largestPage = 1000;
const longestWait = 60_000;

export const sessionEventLogHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.eventLog.tail'({ sessionId }, context) {
    const { seq } = await findSession('session.eventLog.tail', sessionId, context).state();
    return { cursor: String(seq) };
  },
  async 'session.eventLog.read'(params, context) {
    const session = findSession('session.eventLog.read', params.sessionId, context);
    if (params.direction === 'backward') return readBackward(session, params);
    return (await readOrWait(session, params, context.signal)).result();
  },
  async 'session.eventLog.registerInterest'({ sessionId, eventType }, context) {
    const session = findSession('session.eventLog.registerInterest', sessionId, context);
    const handle = `interest-${randomUUID()}`;
    session.interests.set(handle, eventType);
    return { handle };
  },
  async 'session.eventLog.releaseInterest'({ sessionId, handle }, context) {
    return {
      success: findSession('session.eventLog.releaseInterest', sessionId, context).interests.delete(handle),
    };
  },
};

class EventPage {
  readonly events: string[] = [];
  hasMore = false;

  constructor(public cursor: number) {}

  result(): RawJson {
    const cursor = JSON.stringify(String(this.cursor));
    return new RawJson(
      `{"events":[${this.events.join(',')}],"cursor":${cursor},"hasMore":${this.hasMore},"cursorStatus":"ok"}`,
    );
  }
}

/** Events that nobody asked for end no wait. */
async function readOrWait(session: Session, params: ReadParams, signal: AbortSignal): Promise<EventPage> {
  const end = Date.now() + Math.min(params.waitMs ?? 0, longestWait);
  let page = await readForward(session, params);
  for (;;) {
    const left = end - Date.now();
    if (page.events.length > 0 || left <= 0 || signal.aborted) return page;
    await session.waitForEvent(left, signal);
    page = await readForward(session, { ...params, cursor: String(page.cursor) });
  }
}

async function readForward(session: Session, params: ReadParams): Promise<EventPage> {
  const page = new EventPage(cursorOf(params));
  const max = sizeOf(params);
  for await (const batch of session.read(page.cursor)) {
    for (const record of batch) {
      if (!isWanted(record, params)) {
        page.cursor = record.seq;
        continue;
      }
      if (page.events.length === max) {
        page.hasMore = true;
        return page;
      }
      page.events.push(record.json);
      page.cursor = record.seq;
    }
  }
  return page;
}

/** The newest events before the cursor, in the order they were written; the new cursor stands before them. */
async function readBackward(session: Session, params: ReadParams): Promise<RawJson> {
  const before = params.cursor === undefined ? Number.POSITIVE_INFINITY : cursorOf(params);
  const max = sizeOf(params);
  const kept: LogRecord[] = [];
  const page = new EventPage(0);
  for await (const batch of session.read()) {
    for (const record of batch) {
      if (record.seq > before || !isWanted(record, params)) continue;
      kept.push(record);
      if (kept.length > max) {
        kept.shift();
        page.hasMore = true;
      }
    }
  }
  page.events.push(...kept.map((record) => record.json));
  page.cursor = Math.max(0, (kept[0]?.seq ?? 1) - 1);
  return page.result();
}

function isWanted(record: LogRecord, { types, agentScope, agentIds }: ReadParams): boolean {
  if (!record.isPublic) return false;
  if (Array.isArray(types) && !types.includes(record.type)) return false;
  if (agentScope !== 'primary' && !agentIds) return true;
  const { agentId } = JSON.parse(record.json) as AnyEvent;
  if (agentIds) return agentId !== undefined && agentIds.includes(agentId);
  return agentId === undefined;
}

function cursorOf({ cursor = '0' }: ReadParams): number {
  const seq = Number(cursor);
  return Number.isSafeInteger(seq) && seq >= 0 ? seq : 0;
}

function sizeOf({ max = defaultPage }: ReadParams): number {
  return Math.min(max, largestPage);
}
