import type { PermissionChange } from './settings.js';

/** More rules than can be looked at before each call. */
class TooManyRules extends Error {
  override readonly name = 'TooManyRules';
}

/** All of them are looked at before each call, by the thread that serves every client. */
export const ruleBounds = { most: 2000, longest: 4096 } as const;
const { most, longest } = ruleBounds;

/** Throws TooManyRules when a change would keep more rules, or longer ones, than a session may have. */
export function checkBounds(change: PermissionChange): void {
  const lists: Readonly<Record<string, readonly unknown[] | undefined>> = {
    'rules that allow': change.allow,
    'rules that deny': change.deny,
    directories: change.directories,
    addresses: change.urls,
    'other places': change.locations,
    approvals: change.approvals,
  };
  for (const [name, list = []] of Object.entries(lists))
    if (list.length > most)
      throw new TooManyRules(`A session has at most ${most} ${name}; these are ${list.length}.`);
  const texts = [...(change.allow ?? []), ...(change.deny ?? [])].map(({ argument }) => argument ?? '');
  const long = [...texts, ...(change.urls ?? [])].find(({ length }) => length > longest);
  if (long !== undefined)
    throw new TooManyRules(`A rule has at most ${longest} characters; this one has ${long.length}.`);
}
