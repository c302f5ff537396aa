import type { Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

export const sessionNameHandlers: SessionHandlers<
  Pick<Methods, 'session.name.get' | 'session.name.set' | 'session.name.setAuto'>
> = {
  async 'session.name.get'(_params, { session }) {
    const { fixed, summary } = await session.state();
    return { name: fixed.name ?? summary ?? null };
  },
  async 'session.name.set'({ name }, { session }) {
    const title = name.trim();
    if (title === '') throw new Refusal('Session name cannot be empty');
    await rename(session, title, true);
    return null;
  },
  async 'session.name.setAuto'({ summary }, { session }) {
    const title = summary.trim();
    const { fixed } = await session.state();
    if (title === '' || fixed.isNamedByUser) return { applied: false };
    await rename(session, title, false);
    return { applied: true };
  },
};

async function rename(session: Session, name: string, isNamedByUser: boolean): Promise<void> {
  await session.record({ note: 'settings.fixed', data: { name, isNamedByUser } });
  await session.emit({ type: 'session.title_changed', data: { title: name } });
}
