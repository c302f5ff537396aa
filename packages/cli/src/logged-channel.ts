import type { Channel, Encoded, Message } from '@groundcrew/rpc';
import type { Log } from './log.js';

/** The same channel, with every message noted: what it is at `debug`, all of it at `all`. */
export function loggedChannel(channel: Channel, log: Log): Channel {
  if (!log.keeps('debug')) return channel;
  const note = (direction: string, message: Message) => {
    if (log.keeps('all')) log.write('all', direction, { ...message });
    else log.write('debug', direction, outline(message));
  };
  return {
    send: (message) => {
      note('sent', wholeOf(message));
      return channel.send(message);
    },
    drained: () => channel.drained(),
    get queuedBytes() {
      return channel.queuedBytes;
    },
    messages: noted(channel.messages, (message) => note('received', message)),
    close: () => channel.close(),
  };
}

async function* noted(
  messages: AsyncIterable<Message>,
  note: (message: Message) => void,
): AsyncGenerator<Message> {
  for await (const message of messages) {
    note(message);
    yield message;
  }
}

function wholeOf(message: Message | Encoded): Message {
  return 'json' in message ? (JSON.parse(message.json) as Message) : message; // our own side encoded it
}

function outline(message: Message): Readonly<Record<string, unknown>> {
  const id = 'id' in message ? { id: message.id } : {};
  if ('error' in message) return { ...id, error: message.error.message };
  if (!('method' in message)) return id;
  return { ...id, method: message.method, ...eventType(message.params) };
}

function eventType(params: unknown): { readonly event?: unknown } {
  if (typeof params !== 'object' || params === null || !('event' in params)) return {};
  const { event } = params;
  return typeof event === 'object' && event !== null && 'type' in event ? { event: event.type } : {};
}
