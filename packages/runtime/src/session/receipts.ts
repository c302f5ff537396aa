import { createHash } from 'node:crypto';
import type { Receipt } from '../agents/root-agent.js';
import type { SessionLog } from '../log/session-log.js';
import type { Prompt } from '../log/state.js';
import { ownEntry } from '../own-entry.js';

/** A prompt came under an id that another prompt has. */
export class MessageIdReused extends Error {
  override readonly name = 'MessageIdReused';

  constructor(messageId: string) {
    super(`Message id ${messageId} was used with other content`);
  }
}

/** Sees to it that a prompt sent twice under one id is one turn: the second time only gets the first one's answer. */
export class Receipts {
  private readonly sending = new Map<string, { readonly digest: string; readonly done: Promise<void> }>();

  constructor(private readonly log: SessionLog) {}

  /** Runs `accept` unless the same prompt was accepted before; throws MessageIdReused for another one of that id. */
  async once(prompt: Prompt, accept: () => Promise<void>): Promise<void> {
    const { messageId, digest } = prompt;
    if (digest === undefined) return accept();
    const underWay = this.sending.get(messageId);
    const known = underWay?.digest ?? ownEntry(this.log.state.receipts, messageId);
    const isTaken = known === undefined && this.isWaiting(messageId);
    if (isTaken || (known !== undefined && known !== digest)) throw new MessageIdReused(messageId);
    if (underWay) return underWay.done;
    if (known !== undefined) return;
    const done = accept().finally(() => this.sending.delete(messageId));
    this.sending.set(messageId, { digest, done });
    return done;
  }

  /** A prompt waits under an id that it was given here: two of one id would be taken up, and taken back, as one. */
  private isWaiting(messageId: string): boolean {
    return this.log.latest.inbox.some((waiting) =>
      [waiting, ...(waiting.earlier ?? [])].some((each) => each.messageId === messageId),
    );
  }
}

/** What of a prompt must be the same for it to be the same prompt, in short. */
export function digestOf({ text, attachments = [], mode }: Omit<Prompt, 'digest'>): string {
  return createHash('sha256')
    .update(JSON.stringify([text, attachments, mode]))
    .digest('base64url')
    .slice(0, 22);
}

/** For prompts whose senders have been answered before. */
export const silentReceipt: Receipt = { resolve: () => undefined, reject: () => undefined };
