import type { JSONRPCMessage } from '@modelcontextprotocol/client';

/** More bytes than this no message of a server may have. */
export const longestMessage = 8 * 1024 * 1024;
/** Nor more levels. */
export const deepestMessage = 256;
/** What a server may send unasked in any ten seconds. */
const mostMessages = 5000;
const messageWindow = 10_000;

/** Why a server is left that sends a message without end. */
export const tooLong = `it sent a message of more than ${longestMessage >> 20} MiB`;
/** Why a server is left whose messages nest too deep. */
export const tooDeep = `it sent a message nested deeper than ${deepestMessage} levels`;

/** Counts what a server sends although nothing was asked of it, answers to no question included. */
export class Intake {
  private readonly asked = new Set<string | number>();
  private windowStart = 0;
  private count = 0;

  /** Something goes to the server; an answer to it is no surprise. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.asked.add(message.id);
    else if (message.method === 'notifications/cancelled') {
      const { requestId } = message.params ?? {};
      if (typeof requestId === 'string' || typeof requestId === 'number') this.asked.delete(requestId);
    }
  }

  /** It has not been answered yet. */
  isOpen(id: string | number): boolean {
    return this.asked.has(id);
  }

  /** Why the server is left, after this message; undefined when it may be read. */
  faultOf(message: JSONRPCMessage): string | undefined {
    const isAnswer = !('method' in message) && message.id !== undefined && this.asked.delete(message.id);
    if (isAnswer) return undefined;
    const now = performance.now();
    if (now - this.windowStart > messageWindow) {
      this.windowStart = now;
      this.count = 0;
    }
    this.count += 1;
    if (this.count <= mostMessages) return undefined;
    return `it sent more than ${mostMessages} messages in ${messageWindow / 1000} s`;
  }
}
