import type { Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { refuse } from '../failure.js';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

export const sessionNameHandlers: Handlers<
  Pick<Methods, 'session.name.get' | 'session.name.set' | 'session.name.setAuto'>
> = {
  async 'session.name.get'({ sessionId }, context) {
    const { fixed, summary } = await findSession('session.name.get', sessionId, context).state();
    return { name: fixed.name ?? summary ?? null };
  },
  async 'session.name.set'({ sessionId, name }, context) {
    const session = findSession('session.name.set', sessionId, context);
    const title = name.trim();
    if (title === '') throw refuse('session.name.set', 'Session name cannot be empty');
    await rename(session, title, true);
    return null;
  },
  async 'session.name.setAuto'({ sessionId, summary }, context) {
    const session = findSession('session.name.setAuto', sessionId, context);
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
