import { createHmac } from 'node:crypto';

/** What a signature covers. */
export interface SignedMessage {
  readonly id: string;
  /** Seconds since 1970, of this attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/** The header `webhook-signature` of Standard Webhooks: one signature for each secret, so that secrets can be changed. */
export function sign({ id, timestamp, body }: SignedMessage, secrets: readonly Uint8Array[]): string {
  const content = `${id}.${timestamp}.${body}`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(content).digest('base64')}`)
    .join(' ');
}
