import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { testServer } from './mcp-world.js';

const runtime = liveRuntime();

const echo = (id: string) => callTools({ id, name: 'srv-echo', arguments: {} });
const approval = { kind: 'mcp', serverName: 'srv', toolName: 'srv-echo' };

test.each([
  ['the session', { kind: 'approve-for-session', approval }],
  ['the place', { kind: 'approve-for-location', approval, locationKey: runtime.workingDirectory }],
])(
  'an approval for %s outlives the process, and ends when the tool is described otherwise',
  async (_, decision) => {
    const model = runtime.script(echo('c1'), say('1'), echo('c2'), say('2'), echo('c3'), say('3'));
    const settings = { ...providerOf(model), requestPermission: true };
    const open = async (description: string, sessionId?: string) => {
      const process = runtime.spawn({ flags: ['--stdio'] });
      const client = await runtime.connect(process, { hasGaps: true });
      const params = { ...settings, mcpServers: { srv: testServer({ description }) } };
      const session = sessionId ? await client.resume(sessionId, params) : await client.create(params);
      return { process, session };
    };
    const first = await open('Says it again');
    await first.session.send('Go');
    const { data } = await first.session.next('permission.requested');
    await first.session.decide(data.requestId, decision);
    await first.session.next('session.idle');
    await first.process.signal('SIGKILL');

    const { sessionId } = first.session;
    const second = await open('Says it again', sessionId);
    await second.session.turn('Again');
    expect(second.session.events.filter(({ type }) => type === 'permission.requested')).toEqual([]);
    await second.process.signal('SIGKILL');

    const third = await open('Says it again, and sends it elsewhere', sessionId);
    await third.session.send('Once more');
    const asked = await third.session.next('permission.requested');
    expect(asked.data.permissionRequest).toMatchObject({ kind: 'mcp', toolName: 'srv-echo' });
    await third.session.decide(asked.data.requestId, { kind: 'approve-once' });
    await third.session.next('session.idle');
  },
);
