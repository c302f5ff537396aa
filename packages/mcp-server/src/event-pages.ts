import type { EventId, EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server';

const mostEvents = 500;

interface Kept {
  readonly id: EventId;
  readonly stream: StreamId;
  readonly message: JSONRPCMessage;
}

/** What a host may have missed while its connection was broken: the last messages of its streams, and no more. */
export class EventPages implements EventStore {
  private kept: Kept[] = [];
  private count = 0;

  async storeEvent(stream: StreamId, message: JSONRPCMessage): Promise<EventId> {
    this.count += 1;
    const id = `${stream}_${this.count}`;
    this.kept.push({ id, stream, message });
    if (this.kept.length > mostEvents) this.kept.shift();
    return id;
  }

  async getStreamIdForEventId(id: EventId): Promise<StreamId | undefined> {
    return this.kept.find((each) => each.id === id)?.stream;
  }

  async replayEventsAfter(
    last: EventId,
    { send }: { send: (id: EventId, message: JSONRPCMessage) => Promise<void> },
  ): Promise<StreamId> {
    const at = this.kept.findIndex(({ id }) => id === last);
    const stream = this.kept[at]?.stream;
    if (stream === undefined) throw new Error('That event is not kept any more');
    for (const each of this.kept.slice(at + 1))
      if (each.stream === stream && Object.keys(each.message).length > 0) await send(each.id, each.message);
    return stream;
  }
}
