import { say } from '@groundcrew/testkit';
import { multiplySession } from '../bench/sessions/many-sessions.js';
import type { FreezeCase, FreezeScale } from './freeze-case.js';

/** A search makes the tables that it looks in when it is the first. */
export function firstSearch({ sessions }: FreezeScale): FreezeCase {
  return {
    name: 'the first search in many sessions',
    prepare: async (runtime) => {
      const { session } = await runtime.session([say('The SUBJECT needs patience. '.repeat(20))]);
      await session.turn(
        `What would the neighbours of the SUBJECT say of CODEWORD? ${'Think twice. '.repeat(40)}`,
      );
      await session.call('session.destroy');
      const home = runtime.home.path;
      await multiplySession({ home, template: session.sessionId, count: sessions });
      return async () => {
        const { sessions: found } = await runtime.client.call('sessions.search', { query: 'neighbours' });
        const count = Array.isArray(found) ? found.length : 0;
        if (count !== 20) throw new Error(`expected 20 sessions, got ${count}`);
      };
    },
  };
}
