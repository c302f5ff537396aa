import type { Session } from '@groundcrew/runtime';
import { Refusal } from './failure.js';

/** Gives a session the name that its user chose. */
export async function renameByUser(session: Session, name: string): Promise<void> {
  const title = name.trim();
  if (title === '') throw new Refusal('Session name cannot be empty');
  await rename(session, title, { isNamedByUser: true });
}

/** Gives a session a name, and sends it to its clients. */
export async function rename(
  session: Session,
  name: string,
  { isNamedByUser }: { readonly isNamedByUser: boolean },
): Promise<void> {
  await session.record({ note: 'settings.fixed', data: { name, isNamedByUser } });
  await session.emit({ type: 'session.title_changed', data: { title: name } });
}
