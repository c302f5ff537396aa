import { say } from '@groundcrew/testkit';
import type { FreezeCase } from './freeze-case.js';

/** Each of these is small by itself, and comes in thousands. */
export const freezeFloods: readonly FreezeCase[] = [
  {
    name: 'ten thousand small requests in one go',
    prepare: async (runtime) => {
      const { session } = await runtime.session([say('x')]);
      return async () => {
        const requests = Array.from({ length: 10_000 }, () => session.failure('session.metadata.snapshot'));
        await Promise.all(requests);
      };
    },
  },
  {
    name: 'five hundred sessions in one go',
    prepare: async (runtime) => async () => {
      await Promise.all(Array.from({ length: 500 }, () => runtime.client.call('session.create', {})));
    },
  },
  {
    name: 'two hundred commands in one go, in the sandbox where there is one',
    prepare: async (runtime) => {
      const { session } = await runtime.session([say('x')], { sandbox: 'auto' });
      return async () => {
        const starts = Array.from({ length: 200 }, () =>
          session.call('session.shell.exec', { command: ':' }),
        );
        await Promise.all(starts);
      };
    },
  },
];
