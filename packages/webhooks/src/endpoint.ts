import { isIP } from 'node:net';
import type { WaitKind, WebhookEvent } from '@groundcrew/protocol';
import { publicLookup } from '@groundcrew/runtime';

/** Questions that programs answer: sent only where the settings name them. */
const ofPrograms: ReadonlySet<WaitKind> = new Set(['external_tool', 'sampling']);

/** What is sent to one address. */
export interface EndpointOptions {
  readonly url: string;
  /** All of them unless given. */
  readonly events?: readonly WebhookEvent[] | undefined;
  /** The kinds of questions that are sent; unless given, those that users answer. */
  readonly waitingOn?: readonly WaitKind[] | undefined;
}

/** One address that gets webhooks, and how they are sent. */
export interface EndpointSettings extends EndpointOptions {
  /** As `whsec_…`, one signature for each. */
  readonly secrets: readonly string[];
  /** A name in the address may lead to this machine or a private network. */
  readonly allowPrivate?: boolean | undefined;
  /** Seconds before the second attempt, the third and so on; after the last one a message is given up. */
  readonly retry?: readonly number[] | undefined;
  /** Seconds that one attempt may take. */
  readonly timeout?: number | undefined;
}

/** What is wrong with an address or a secret; repeats neither. */
class EndpointFault extends Error {
  override readonly name = 'EndpointFault';
}

/** The secrets of a text, one a line. Throws EndpointFault. */
export function readSecrets(text: string): readonly string[] {
  const secrets = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (secrets.length === 0) throw new EndpointFault('the secret is empty');
  for (const secret of secrets) keyOf(secret, 'the secret');
  return secrets;
}

const leastBytes = 24;
const mostBytes = 64;

/** The key that a secret stands for. Throws EndpointFault. */
export function keyOf(secret: string, place = 'a webhook'): Uint8Array {
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : '';
  const key = Buffer.from(text, 'base64');
  const isWhole = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (!isWhole || key.length < leastBytes || key.length > mostBytes)
    throw new EndpointFault(
      `${place}: expected whsec_ and ${leastBytes} to ${mostBytes} bytes in base64, such as whsec_$(openssl rand -base64 32)`,
    );
  return key;
}

/** Checks an address that an operator wrote. Throws EndpointFault. */
export async function checkAddress(text: string): Promise<void> {
  if (!URL.canParse(text)) throw new EndpointFault('the url of a webhook cannot be read');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw new EndpointFault('the url of a webhook has a user or a password: messages are signed instead');
  if (url.hash !== '') throw new EndpointFault('the url of a webhook has a fragment, which is never sent');
  if (url.protocol === 'https:') return;
  if (url.protocol === 'http:' && isLiteral(url) && !(await isPublic(url))) return;
  throw new EndpointFault(
    'the url of a webhook needs https; http is for addresses of this machine and of private networks',
  );
}

/** The address is a number or `localhost`: the operator chose it knowingly, so it may be private. */
export function isLiteral({ hostname }: URL): boolean {
  return hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

function isPublic(url: URL): Promise<boolean> {
  return publicLookup(url, { allowsPrivate: false }).then(
    () => true,
    () => false,
  );
}

/** Whether an address gets webhooks for questions of this kind. */
export function wantsQuestion({ waitingOn }: EndpointOptions, kind: WaitKind): boolean {
  return waitingOn ? waitingOn.includes(kind) : !ofPrograms.has(kind);
}
