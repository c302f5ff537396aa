import { setTimeout as pause } from 'node:timers/promises';
import type { Runtime, Session } from '@groundcrew/runtime';
import type { SessionStore } from '@groundcrew/store';
import { cursorText, readForward } from './event-pages.js';

/** What event streams are made from. */
export interface EventStreamParts {
  readonly runtime: Runtime;
  /** Where sessions lie that are not open here. */
  readonly store: Pick<SessionStore, 'read' | 'list'>;
}

const beatMilliseconds = 15_000;
/** A session that is open in no process, or in another one, is looked at so often. */
const lookMilliseconds = 500;
const glanceMilliseconds = 20;
const pageSize = 1000;

/**
 * The events of a session as server-sent events, from a cursor on and without a gap: `GET ?session=…&cursor=…`. The id of
 * each is the cursor behind it, so a browser that lost the connection goes on where it was. Nothing is opened or attached.
 */
export async function eventStream(parts: EventStreamParts, request: Request): Promise<Response> {
  const { searchParams: given } = new URL(request.url);
  const sessionId = given.get('session');
  if (request.method !== 'GET' || !sessionId)
    return text(400, 'Expected GET with the name of a session: ?session=…');
  const unknown = [...given.keys()].find((name) => !parameters.includes(name));
  if (unknown !== undefined) return text(400, `There is no parameter ${unknown}: ${parameters.join(', ')}`);
  const cursor = request.headers.get('last-event-id') ?? given.get('cursor') ?? '';
  if (!/^(?:\d{1,15}(?::\d{1,15})?)?$/.test(cursor)) return text(400, 'That is no cursor of an event');
  if (!parts.runtime.find(sessionId) && !(await isStored(parts, sessionId)))
    return text(404, 'There is no such session');
  const reader = new EventReader(parts, sessionId, {
    cursor,
    includesEphemeral: given.get('ephemeral') === '1',
    follows: given.get('follow') !== '0',
  });
  return new Response(streamOf(reader.frames(request.signal)), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    },
  });
}

const parameters = ['session', 'cursor', 'ephemeral', 'follow'];

interface Reading {
  readonly cursor: string;
  readonly includesEphemeral: boolean;
  /** Waits for what is still to come; without it the stream ends with the last event there is. */
  readonly follows: boolean;
}

class EventReader {
  private cursor: string;
  private beatAt = Date.now() + beatMilliseconds;
  /** The cursor that was given is not looked at yet: it may be no place of this session. */
  private isUnproven = true;

  constructor(
    private readonly parts: EventStreamParts,
    private readonly sessionId: string,
    private readonly reading: Reading,
  ) {
    this.cursor = reading.cursor;
  }

  async *frames(signal: AbortSignal): AsyncGenerator<string> {
    yield 'retry: 1000\n\n';
    while (!signal.aborted) {
      const live = this.live();
      const frames = live ? await this.livePage(live) : await this.storedPage();
      if (frames.length > 0) {
        yield frames.join('');
        continue;
      }
      if (!this.reading.follows) {
        yield 'event: end\ndata: {}\n\n';
        return;
      }
      if (!live && !(await isStored(this.parts, this.sessionId))) {
        yield 'event: deleted\ndata: {}\n\n';
        return;
      }
      if (Date.now() > this.beatAt) yield this.beat();
      await (live ? live.readers.waitForEvent(lookMilliseconds, signal) : this.untilLive(signal));
    }
  }

  /** One that is opened here has ephemeral events soon: those before the next look would be missed. */
  private async untilLive(signal: AbortSignal): Promise<void> {
    const until = Date.now() + lookMilliseconds;
    while (Date.now() < until && !signal.aborted && !this.live())
      await pause(glanceMilliseconds, undefined, { signal }).catch(ended);
  }

  /** A session that is not loaded is not loaded for a reader either. */
  private live(): Session | undefined {
    const session = this.parts.runtime.find(this.sessionId);
    return session?.isLoaded ? session : undefined;
  }

  private async livePage(session: Session): Promise<readonly string[]> {
    const { includesEphemeral } = this.reading;
    if (includesEphemeral) session.readers.ephemerals.isWanted = true;
    const { cursor } = this;
    const page = await readForward(session, { cursor, max: pageSize, includeEphemeral: includesEphemeral });
    this.isUnproven = false;
    const frames = page.next.isLost ? [expired] : [];
    let number = page.next.isLost ? 0 : Number(cursor.split(':')[1] ?? 0);
    for (const { seq, number: own, json } of page.events) {
      number = Math.max(number, own);
      frames.push(frame(cursorText({ seq, number }), json));
    }
    this.cursor = page.next.cursor;
    return frames;
  }

  private async storedPage(): Promise<readonly string[]> {
    const frames: string[] = [];
    let seq = Number(this.cursor.split(':')[0]);
    if (this.isUnproven && seq > 0 && !(await hasRecord(this.parts, this.sessionId, seq - 1))) {
      frames.push(expired);
      seq = 0;
    }
    this.isUnproven = false;
    const { items } = await this.parts.store.list({ sessionId: this.sessionId, includeEmpty: true });
    const removed = items[0]?.head.removed ?? [];
    const isCutOff = (at: number) => removed.some(([first, last]) => at >= first && at <= last);
    for await (const batch of this.parts.store.read(this.sessionId, seq)) {
      for (const record of batch) {
        seq = record.seq;
        if (record.isPublic && !isCutOff(seq)) frames.push(frame(String(seq), record.json));
      }
      if (frames.length >= pageSize) break;
    }
    // The count of ephemeral events is that of a process, which is not there.
    this.cursor = String(seq);
    return frames;
  }

  private beat(): string {
    this.beatAt = Date.now() + beatMilliseconds;
    return ': still here\n\n';
  }
}

function isStored(parts: EventStreamParts, sessionId: string): Promise<boolean> {
  return hasRecord(parts, sessionId, 0);
}

/** Whether a record is stored after a place of the log. */
async function hasRecord({ store }: EventStreamParts, sessionId: string, after: number): Promise<boolean> {
  for await (const records of store.read(sessionId, after)) if (records.length > 0) return true;
  return false;
}

const expired = 'event: expired\ndata: {}\n\n';

function frame(id: string, json: string): string {
  return `id: ${id}\ndata: ${json}\n\n`;
}

/** Asks for no more than is read. */
function streamOf(frames: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await frames.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await frames.return(undefined);
    },
  });
}

/** The reader has left: it is looked no further. */
const ended = (): undefined => undefined;

function text(status: number, line: string): Response {
  return new Response(`${line}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}
