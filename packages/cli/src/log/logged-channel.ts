import type { Channel, Encoded, Message } from '@groundcrew/rpc';
import type { Log } from './log.js';

/** The same channel, with every message logged under its peer and session: what it is at `debug`, all of it at `all`. */
export function loggedChannel(channel: Channel, log: Log, peer = 1): Channel {
  if (!log.keeps('debug')) return channel;
  const sent = new OpenRequests();
  const received = new OpenRequests();
  const note = (direction: 'sent' | 'received', message: Message) => {
    coverSecrets(message, log);
    const [own, other] = direction === 'sent' ? [sent, received] : [received, sent];
    const about = { peer, ...own.about(message, other) };
    if (log.keeps('all')) log.write('all', direction, { ...about, ...message });
    else log.write('debug', direction, { ...about, ...outline(message) });
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
    trust: () => channel.trust?.(),
    close: () => channel.close(),
  };
}

/** A request that adds secrets is logged before it is served: what it brings is covered by then. */
function coverSecrets(message: Message, log: Log): void {
  if (!('method' in message) || message.method !== 'secrets.addFilterValues') return;
  const { values } = (message.params ?? {}) as { readonly values?: unknown };
  if (Array.isArray(values)) log.cover(values.filter((value) => typeof value === 'string'));
}

/** What a message is about. An answer names neither session nor method, so those of its request are kept until it comes. */
class OpenRequests {
  private readonly open = new Map<unknown, About>();

  about(message: Message, answered: OpenRequests): About {
    if (!('method' in message)) return answered.close('id' in message ? message.id : undefined);
    const about = sessionIn(message.params);
    if ('id' in message) this.open.set(message.id, { ...about, method: message.method });
    return about;
  }

  private close(id: unknown): About {
    const about = this.open.get(id) ?? {};
    this.open.delete(id);
    return about;
  }
}

interface About {
  readonly session?: unknown;
  readonly method?: string;
}

function sessionIn(params: unknown): About {
  if (typeof params !== 'object' || params === null || !('sessionId' in params)) return {};
  return { session: params.sessionId };
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
