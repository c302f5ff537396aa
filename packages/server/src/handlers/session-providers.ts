import type { Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.providers.${string}`>;

export const sessionProvidersHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.providers.getCatalog'() {
    return { providers: [] };
  },
  async 'session.providers.discover'({ adapterId }) {
    return refuse(adapterId);
  },
  async 'session.providers.getStatus'({ instance: { adapterId } }) {
    return refuse(adapterId);
  },
  async 'session.providers.models.list'({ instance: { adapterId } }) {
    return refuse(adapterId);
  },
  async 'session.providers.models.prepareConfiguration'() {
    return refuse(undefined);
  },
};

function refuse(adapterId: string | undefined): never {
  const named = adapterId === undefined ? '' : ` ${JSON.stringify(adapterId)}`;
  throw new Refusal(
    `Model provider adapter${named} is not available: name the service by 'provider' of the session, or by session.provider.add`,
  );
}
