import type { EventType } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import { PublishedEvent } from './published-event.js';

/** One chunk of what a model streams, or how many bytes of text it has streamed so far. */
export type Delta =
  | { readonly type: 'text'; readonly messageId: string; readonly text: string }
  | { readonly type: 'reasoning'; readonly reasoningId: string; readonly text: string }
  | { readonly type: 'total'; readonly bytes: number };

/** Where an ephemeral event stands: behind the newest stored event, and whose it is. */
export interface Place {
  readonly parentId: string | null;
  readonly agentId: string | undefined;
  /** The call that began the agent; its deltas carry it. */
  readonly parentToolCallId?: string | undefined;
}

interface Ephemeral {
  readonly type: EventType;
  readonly id: string;
  /** JSON. */
  readonly data: string;
}

/**
 * Writes ephemeral events as JSON text. This is the one place where JSON is put together by hand: two such events leave
 * for every chunk that a model streams, and `JSON.stringify` of the whole took most of a stream's time.
 */
export class DeltaFrames {
  private readonly ids: StreamIds;
  private tail: Tail = { timestamp: '', parentId: null, text: '' };

  constructor(
    private readonly sessionId: string,
    private readonly clock: Clock,
  ) {
    this.ids = new StreamIds(clock);
  }

  /** The event of one chunk. */
  delta(delta: Delta, place: Place): PublishedEvent {
    const event = eventOf(delta);
    const { parentToolCallId } = place;
    const data =
      parentToolCallId === undefined
        ? event.data
        : `${event.data.slice(0, -1)},"parentToolCallId":${JSON.stringify(parentToolCallId)}}`;
    return this.ephemeral({ id: this.ids.next(), type: event.type, data }, place);
  }

  /** Any ephemeral event; its length in bytes is known from its parts. */
  ephemeral({ type, id, data }: Ephemeral, { parentId, agentId }: Place): PublishedEvent {
    const agent = agentId === undefined ? '' : `,"agentId":${JSON.stringify(agentId)}`;
    const json = `{"type":"${type}","data":${data}${agent},"id":"${id}"${this.tailAt(parentId)}`;
    const byteLength = json.length - data.length + Buffer.byteLength(data);
    return new PublishedEvent(this.sessionId, type, json, undefined, agent === '' ? byteLength : undefined);
  }

  /** What all ephemeral events of one moment end with. */
  private tailAt(parentId: string | null): string {
    const timestamp = this.clock.timestamp();
    if (timestamp !== this.tail.timestamp || parentId !== this.tail.parentId) {
      const parent = parentId === null ? 'null' : `"${parentId}"`;
      const text = `,"timestamp":"${timestamp}","parentId":${parent},"ephemeral":true}`;
      this.tail = { timestamp, parentId, text };
    }
    return this.tail.text;
  }
}

interface Tail {
  readonly timestamp: string;
  readonly parentId: string | null;
  readonly text: string;
}

function eventOf(delta: Delta): { readonly type: EventType; readonly data: string } {
  switch (delta.type) {
    case 'text':
      return {
        type: 'assistant.message_delta',
        data: `{"messageId":"${delta.messageId}","deltaContent":${JSON.stringify(delta.text)}}`,
      };
    case 'reasoning':
      return {
        type: 'assistant.reasoning_delta',
        data: `{"reasoningId":"${delta.reasoningId}","deltaContent":${JSON.stringify(delta.text)}}`,
      };
    case 'total':
      return { type: 'assistant.streaming_delta', data: `{"totalResponseSizeBytes":${delta.bytes}}` };
  }
}

/** Ids of one random origin have this many; then comes another. */
const perOrigin = 0x1000;

/** UUIDs for streamed events: those of one origin share their first digits, so that one random id serves 4,096 events. */
export class StreamIds {
  private origin = '';
  private count = perOrigin;

  constructor(private readonly clock: Pick<Clock, 'newId'>) {}

  next(): string {
    if (this.count === perOrigin) {
      this.origin = this.clock.newId().slice(0, -3);
      this.count = 0;
    }
    const digits = (perOrigin + this.count).toString(16).slice(1);
    this.count += 1;
    return `${this.origin}${digits}`;
  }
}
