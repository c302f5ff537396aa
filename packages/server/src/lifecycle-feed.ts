import { type Connection, type Encoded, encode } from '@groundcrew/rpc';
import type { Lifecycle } from '@groundcrew/runtime';

/** So many may wait for one client; one that is further behind is cut off and may ask for the list. */
const mostOwed = 20_000;

/** A lifecycle on its way to all clients, serialised once. */
export interface Notice {
  readonly lifecycle: Lifecycle;
  readonly frame: Encoded;
}

/** The notice as every client gets it. */
export function noticeOf(lifecycle: Lifecycle): Notice {
  return { lifecycle, frame: encode({ jsonrpc: '2.0', method: 'session.lifecycle', params: lifecycle }) };
}

/** Lifecycles on their way to one client. Of what a slow one has still to receive, the latest of a kind stands for all. */
export class LifecycleFeed {
  private readonly owed = new Map<string, Encoded>();
  private isBehind = false;

  constructor(private readonly connection: Connection) {}

  send({ lifecycle, frame }: Notice): void {
    if (this.isBehind) {
      this.owe(`${lifecycle.type} ${lifecycle.sessionId}`, frame);
      return;
    }
    if (this.connection.send(frame)) return;
    this.isBehind = true;
    void this.catchUp();
  }

  private owe(key: string, frame: Encoded): void {
    this.owed.delete(key);
    this.owed.set(key, frame);
    if (this.owed.size > mostOwed) void this.connection.close();
  }

  private async catchUp(): Promise<void> {
    await this.connection.drained();
    for (const [key, frame] of this.owed) {
      this.owed.delete(key);
      if (!this.connection.send(frame)) await this.connection.drained();
    }
    this.isBehind = false;
  }
}
