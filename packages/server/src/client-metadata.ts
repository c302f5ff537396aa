import { Refusal } from './failure.js';

/** What clients keep with a session, by names of their own. */
export type Metadata = Readonly<Record<string, string>>;

/** A change of it: first cleared, then removed, then set. */
export interface MetadataChange {
  readonly clear?: boolean | undefined;
  readonly remove?: readonly string[] | undefined;
  readonly set?: Readonly<Record<string, string>> | undefined;
}

const mostEntries = 128;
const longestKey = 256;
const longestValue = 16 * 1024;

/** The metadata after a change; throws Refusal for names and values that may not be kept. */
export function changedMetadata(before: Metadata, { clear = false, remove = [], set = {} }: MetadataChange) {
  checkKeys([...remove, ...Object.keys(set)]);
  for (const [key, value] of Object.entries(set))
    if (Buffer.byteLength(value) > longestValue)
      throw new Refusal(`Client metadata '${key}' has more than ${longestValue} bytes`);
  const kept = Object.entries(clear ? {} : before).filter(([key]) => !remove.includes(key));
  const after: Metadata = Object.fromEntries([...kept, ...Object.entries(set)]);
  const count = Object.keys(after).length;
  if (count > mostEntries)
    throw new Refusal(`A session keeps at most ${mostEntries} entries of client metadata, not ${count}`);
  return after;
}

/** Only the fields asked for; all of them if none are named. */
export function projected(metadata: Metadata, keys: readonly string[] | undefined): Metadata {
  if (!keys) return metadata;
  checkKeys(keys);
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => keys.includes(key)));
}

function checkKeys(keys: readonly string[]): void {
  for (const key of keys) {
    if (key === '' || Buffer.byteLength(key) > longestKey)
      throw new Refusal(`A key of client metadata has 1 to ${longestKey} bytes`);
    if (/^(copilot|github)\//.test(key))
      throw new Refusal(
        `The key '${key}' of client metadata is reserved: 'copilot/' and 'github/' are not for clients`,
      );
  }
}
