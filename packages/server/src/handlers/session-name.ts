import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';
import { rename, renameByUser } from '../rename.js';

export const sessionNameHandlers: SessionHandlers<
  Pick<Methods, 'session.name.get' | 'session.name.set' | 'session.name.setAuto'>
> = {
  async 'session.name.get'(_params, { session }) {
    const { fixed, summary } = await session.state();
    return { name: fixed.name ?? summary ?? null };
  },
  async 'session.name.set'({ name }, { session }) {
    await renameByUser(session, name);
    return null;
  },
  async 'session.name.setAuto'({ summary }, { session }) {
    const title = summary.trim();
    const { fixed } = await session.state();
    if (title === '' || fixed.isNamedByUser) return { applied: false };
    await rename(session, title, { isNamedByUser: false });
    return { applied: true };
  },
};
