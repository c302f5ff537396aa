import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { callTools, type LiveRuntime, type ScriptedReply, say, type WireSession } from '@groundcrew/testkit';
import { firstSearch } from './first-search.js';
import type { FreezeCase, FreezeScale } from './freeze-case.js';
import { freezeFloods } from './freeze-floods.js';
import { freezeTexts } from './freeze-texts.js';
import { fillLog } from './long-log.js';
import { manyOptions } from './many-options.js';

const joined = Array.from({ length: 13 }, (_, index) => `n t${index}`).join(', ');
const crossJoin = `CREATE TABLE IF NOT EXISTS n (v); INSERT INTO n VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10); SELECT count(*) FROM ${joined}`;

/** As large as what was found to be slow. */
const fullScale: FreezeScale = { events: 100_000, files: 20_000, commands: 50, sessions: 10_000 };

/** Every one of these held the main thread for longer than a neighbour should wait, or is of a kind that did. */
export function freezeCases(scale: FreezeScale = fullScale): readonly FreezeCase[] {
  return [
    ...fixedCases,
    ...freezeFloods,
    ...freezeTexts,
    manyCommands(scale),
    ...longLogs(scale),
    manyNames(scale),
    firstSearch(scale),
  ];
}

const fixedCases: readonly FreezeCase[] = [
  manyOptions,
  {
    name: 'a join without end in the sql tool',
    prepare: async (runtime) => {
      const { session } = await withTools(
        runtime,
        call('sql', { description: 'd', query: crossJoin }),
        say('x'),
      );
      return () => abortAfter(session, 700);
    },
  },
  {
    name: 'todos read while their tables are locked',
    prepare: async (runtime) => {
      const { session } = await withTools(
        runtime,
        call('sql', { description: 'd', query: `BEGIN EXCLUSIVE; ${crossJoin}` }),
        say('x'),
      );
      return async () => {
        await session.send('Go');
        await session.next('tool.execution_start');
        await session.failure('session.plan.readSqlTodos');
        await session.call('session.abort');
        await session.next('session.idle');
      };
    },
  },
  {
    name: 'the offline model and 200,000 blanks',
    prepare: async (runtime) => {
      const session = await runtime.client.create({});
      return () => session.turn(`Use the tool x${' '.repeat(200_000)}then`);
    },
  },
  {
    name: 'a prompt of 50 MB',
    prepare: async (runtime) => {
      const { session } = await withTools(runtime, say('x'));
      return () =>
        failsWith(
          session.failure('session.send', { prompt: 'hello world\n'.repeat(4_400_000) }),
          /too large/,
        );
    },
  },
  {
    name: 'a prompt of as much as is taken',
    prepare: async (runtime) => {
      const { session } = await withTools(runtime, say('x'));
      return () => session.turn('hello world\n'.repeat(174_000));
    },
  },
  {
    name: 'a result of 30 MB from a client',
    prepare: async (runtime) => {
      const { session } = await withTools(runtime, call('look', {}), say('x'));
      return async () => {
        await session.send('Go');
        const { data } = await session.next('external_tool.requested');
        await session.failure('session.tools.handlePendingToolCall', {
          requestId: data.requestId,
          result: 'hello world\n'.repeat(2_500_000),
        });
        await session.next('session.idle');
      };
    },
  },
  {
    name: 'tool arguments of 8 MB',
    prepare: async (runtime) => {
      const { session } = await withTools(
        runtime,
        call('create', { path: 'large.txt', file_text: 'hello\n'.repeat(1_400_000) }),
        say('x'),
      );
      return () => turnEndsWith(session, /sent more than \d+ bytes/);
    },
  },
  {
    name: 'tool arguments of a million values',
    prepare: async (runtime) => {
      const { session } = await withTools(
        runtime,
        call('view', { path: '.', x: Array(1_000_000).fill({}) }),
        say('x'),
      );
      return () => turnEndsWith(session, /were not taken: they have/);
    },
  },
  {
    name: 'an answer of 20 MB',
    prepare: async (runtime) => {
      const { session } = await withTools(runtime, say('hello world\n'.repeat(1_700_000)));
      return () => turnEndsWith(session, /sent more than \d+ bytes/);
    },
  },
  {
    name: 'an edit that changes every line of a large file',
    prepare: async (runtime) => {
      const lines = (salt: string) =>
        Array.from({ length: 20_000 }, (_, n) => createHash('md5').update(`${salt}${n}`).digest('hex')).join(
          '\n',
        );
      const [old_str, new_str] = [lines('a'), lines('b')];
      writeFileSync(join(runtime.workingDirectory, 'lines.txt'), `first\n${old_str}\nlast\n`);
      const { session } = await withTools(
        runtime,
        call('edit', { path: 'lines.txt', old_str, new_str }),
        say('x'),
      );
      return () => turnEndsWith(session, /updated with changes/);
    },
  },
  {
    name: 'one line of a file of 16 MB edited',
    prepare: async (runtime) => {
      writeFileSync(join(runtime.workingDirectory, 'big.txt'), `${'a\n'.repeat(8_000_000)}needle\n`);
      const input = { path: 'big.txt', old_str: 'needle', new_str: 'thread' };
      const { session } = await withTools(runtime, call('edit', input), say('x'));
      return () => turnEndsWith(session, /updated with changes/);
    },
  },
  {
    name: 'a page of 5 MB of open tags',
    prepare: async (runtime) => {
      const server = createServer((_, response) => {
        response.setHeader('content-type', 'text/html').end(`<html>${'<div><a '.repeat(600_000)}`);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const { session } = await withTools(runtime, call('web_fetch', { url }), say('x'));
      return async () => {
        await abortAfter(session, 1500);
        server.close();
        server.closeAllConnections();
      };
    },
  },
  {
    name: 'a regular expression that backtracks',
    prepare: async (runtime) => {
      writeFileSync(join(runtime.workingDirectory, 'as.txt'), `${'a'.repeat(200_000)}\n`);
      const { session } = await withTools(
        runtime,
        call('grep', { pattern: '(a+)+$x', path: 'as.txt' }),
        say('x'),
      );
      return () => turnEndsWith(session, /"success":true/);
    },
  },
  {
    name: 'rules with many wild patterns',
    prepare: async (runtime) => {
      const configDir = join(runtime.home.path, 'wild-rules');
      const path = `{${Array.from({ length: 250 }, (_, n) => `*a*a*a*a/**/*a*a*b${n}`).join(',')}}`;
      mkdirSync(configDir, { recursive: true });
      writeFileSync(
        join(configDir, 'permissions.json'),
        JSON.stringify({ deny: [{ path }, { path: 'plain.txt' }] }),
      );
      const wanted = [`${'a/'.repeat(800)}b`, 'plain.txt'];
      const calls = wanted.map((each, n) =>
        callTools({ id: `c${n}`, name: 'view', arguments: { path: each } }),
      );
      const { session } = await withTools(runtime, { configDir }, ...calls, say('x'));
      return () => turnEndsWith(session, /denied/i);
    },
  },
  {
    name: 'a message of 20 MB of small values',
    prepare: async (runtime) => {
      const { session } = await withTools(runtime, say('x'));
      const attachments = Array(1_000_000).fill({ a: [1, {}] });
      return () => failsWith(session.failure('session.send', { prompt: 'x', attachments }), /values/);
    },
  },
  {
    name: 'instructions of 20 MB',
    prepare: async (runtime) => {
      const content = 'be good\n'.repeat(2_500_000);
      return () =>
        failsWith(
          runtime.client.failure('session.create', { systemMessage: { mode: 'replace', content } }),
          /at most 4 MB/,
        );
    },
  },
  {
    name: 'an attached file of 60 MB and an image of 60 MB',
    prepare: async (runtime) => {
      const file = join(runtime.workingDirectory, 'long.txt');
      const image = join(runtime.workingDirectory, 'large.png');
      writeFileSync(file, 'a\n'.repeat(30_000_000));
      writeFileSync(image, Buffer.alloc(60_000_000, 1));
      const { session } = await withTools(runtime, say('x'));
      const attachments = [
        { type: 'file', path: file },
        { type: 'file', path: image },
      ];
      return async () => {
        const { message } = await session.failure('session.send', { prompt: 'x', attachments });
        if (message === undefined) await session.next('session.idle');
      };
    },
  },
];

const tools = [{ name: 'look', skipPermission: true }];

function call(name: string, input: object) {
  return callTools({ id: 'c1', name, arguments: input });
}

/** A session whose calls are all approved. */
async function withTools(
  runtime: LiveRuntime,
  first: ScriptedReply | { readonly configDir: string },
  ...others: readonly ScriptedReply[]
) {
  const isReply = 'type' in first;
  const replies = isReply ? [first, ...others] : others;
  const live = await runtime.session(replies, { tools, ...(!isReply && first) });
  await live.session.call('session.permissions.setApproveAll', { enabled: true });
  return live;
}

/** A case that was refused for another reason, or never ran, shows nothing: what came of its call must match. */
async function turnEndsWith(session: WireSession, expected: RegExp): Promise<void> {
  const received = JSON.stringify(
    (await session.turn('Go')).filter(({ type }) =>
      ['tool.execution_complete', 'session.error'].includes(type),
    ),
  );
  if (!expected.test(received)) throw new Error(`expected ${expected}, got ${received.slice(0, 500)}`);
}

async function failsWith(answer: Promise<Record<string, unknown>>, expected: RegExp): Promise<void> {
  const received = JSON.stringify(await answer);
  if (!expected.test(received)) throw new Error(`expected ${expected}, got ${received.slice(0, 500)}`);
}

/** Lets a call go on for a while that would go on for very long, then aborts it. */
async function abortAfter(session: WireSession, milliseconds: number): Promise<void> {
  await session.send('Go');
  await session.next('tool.execution_start');
  await pause(milliseconds);
  if (session.events.some(({ type }) => type === 'tool.execution_complete'))
    throw new Error(
      `it was over within ${milliseconds} ms: ${JSON.stringify(session.events.at(-1)).slice(0, 300)}`,
    );
  await session.call('session.abort');
  await session.next('session.idle');
}

function manyCommands({ commands }: FreezeScale): FreezeCase {
  return {
    name: 'many long commands in one message',
    prepare: async (runtime) => {
      const calls = Array.from({ length: commands }, (_, n) => ({
        id: `c${n}`,
        name: 'bash',
        arguments: { command: `: ${n}; trap '${'ls;'.repeat(900)}' EXIT; trap - EXIT`, description: 'd' },
      }));
      const { session } = await withTools(runtime, callTools(...calls), say('x'));
      return () => turnEndsWith(session, /exit code 0/);
    },
  };
}

function longLogs({ events }: FreezeScale): readonly FreezeCase[] {
  return [
    {
      name: 'backward pages of a long log',
      prepare: async (runtime) => {
        const { session } = await withTools(runtime, say('x'));
        await session.turn('Hello');
        await session.call('session.destroy');
        await fillLog(runtime.home.path, session.sessionId, { events });
        const again = await runtime.client.resume(session.sessionId, {});
        return async () => {
          let cursor: unknown;
          for (let page = 0; page < 5; page += 1) {
            const read = await again.call('session.eventLog.read', {
              direction: 'backward',
              max: 100,
              ...(cursor !== undefined && { cursor }),
            });
            cursor = read.cursor;
          }
          await again.call('session.destroy');
        };
      },
    },
    {
      name: 'all of a long log at once',
      prepare: async (runtime) => {
        const { session } = await withTools(runtime, say('x'));
        await session.turn('Hello');
        await session.call('session.destroy');
        await fillLog(runtime.home.path, session.sessionId, { events });
        const again = await runtime.client.resume(session.sessionId, {});
        return async () => {
          await again.call('session.getMessages');
          await again.call('session.destroy');
        };
      },
    },
    {
      name: 'all of a long log of long events at once, and pages of it',
      prepare: async (runtime) => {
        const { session } = await withTools(runtime, say('x'));
        await session.turn('Hello');
        await session.call('session.destroy');
        const count = Math.round(events / 40);
        const log = { events: count, padding: 'Äpfel und Birnen. '.repeat(4000) };
        await fillLog(runtime.home.path, session.sessionId, log);
        const again = await runtime.client.resume(session.sessionId, {});
        return async () => {
          const { events: all } = await again.call<{ events: unknown[] }>('session.getMessages');
          if (all.length < count) throw new Error(`expected ${count} events, got ${all.length}`);
          for (const direction of ['forward', 'backward'])
            await again.call('session.eventLog.read', { direction, max: 1000 });
          await again.call('session.destroy');
        };
      },
    },
  ];
}

function manyNames({ files }: FreezeScale): FreezeCase {
  return {
    name: 'a glob of 256 alternatives over many files',
    prepare: async (runtime) => {
      const folder = join(runtime.workingDirectory, 'many');
      mkdirSync(folder, { recursive: true });
      for (let n = 0; n < files; n += 1) writeFileSync(join(folder, `${'a'.repeat(60)}${n}`), '');
      const pattern = `{${Array.from({ length: 256 }, (_, n) => `*a*a*a*a*a*a*b${n}`).join(',')}}`;
      const { session } = await withTools(runtime, call('glob', { pattern }), say('x'));
      return () => turnEndsWith(session, /No files matched/);
    },
  };
}
