import { withoutValues } from '@groundcrew/models';

/** Text of a server as data: without what could steer a terminal or hide from a reader, and no longer than so. */
export function plainText(text: string, longest: number): string {
  const plain = text.replace(/\r\n?/g, '\n').replace(hidden, '');
  return plain.length > longest ? `${plain.slice(0, longest)}…` : plain;
}

/** Control characters but for line feed and tab; directions, zero-width letters and tags, which readers do not see. */
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;

/** A text without the secrets that a server was given: it may write them anywhere, and a bound may cut one in two. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return withoutValues(
    text,
    secrets.filter(({ length }) => length >= shortestSecret),
  );
}

/** Shorter values, such as `1` or `true`, are no secrets, and are in every text. */
const shortestSecret = 6;
