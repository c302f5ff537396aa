import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, say } from '@groundcrew/testkit';
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
  {
    name: 'three hundred searches in one message',
    prepare: async (runtime) => {
      const calls = Array.from({ length: 300 }, (_, n) => ({
        id: `c${n}`,
        name: n % 2 === 0 ? 'glob' : 'grep',
        arguments: { pattern: `nothing${n}` },
      }));
      const workingDirectory = join(runtime.workingDirectory, 'searched');
      mkdirSync(workingDirectory, { recursive: true });
      const { session } = await runtime.session([callTools(...calls), say('x')], { workingDirectory });
      await session.call('session.permissions.setApproveAll', { enabled: true });
      return async () => {
        const ended = (await session.turn('Go')).filter(({ type }) => type === 'tool.execution_complete');
        if (ended.length !== calls.length) throw new Error(`${ended.length} searches have ended`);
      };
    },
  },
];
