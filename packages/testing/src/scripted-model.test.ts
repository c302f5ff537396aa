import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { scriptedModel } from './scripted-model.js';
import { after, answer, callTools, hangUp, refuse, type ScriptedReply, say } from './scripted-reply.js';
import { framesIn } from './sse.js';
import type { WireName } from './wires/wire.js';
import { wireNamed } from './wires/wires.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function opened(...replies: readonly ScriptedReply[]) {
  const model = await scriptedModel(...replies);
  open.push(model);
  return model;
}

const paths: Readonly<Record<WireName, string>> = {
  'openai-chat': '/chat/completions',
  'openai-responses': '/responses',
  'anthropic-messages': '/v1/messages',
};
const wires = Object.keys(paths) as WireName[];

const hello: Readonly<Record<WireName, object>> = {
  'openai-chat': { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  'openai-responses': {
    model: 'm',
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
  },
  'anthropic-messages': { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
};

function ask(baseUrl: string, wire: WireName, more: object = {}): Promise<Response> {
  return fetch(baseUrl + paths[wire], { method: 'POST', body: JSON.stringify({ ...hello[wire], ...more }) });
}

describe.each(wires)('a scripted model asked by %s', (wire) => {
  test('says the same whole and streamed, and keeps what it was asked', async () => {
    const replies = answer({
      thoughts: ['hm'],
      pieces: ['Hel', 'lo'],
      calls: [{ name: 'look', arguments: { at: 1 } }],
    });
    const model = await opened(replies, replies);
    const whole = await (await ask(model.baseUrl, wire)).json();
    const streamed = framesIn(await (await ask(model.baseUrl, wire, { stream: true })).text());
    const parts = (id: string) => [
      { type: 'thought', pieces: ['hm'], ...(wire !== 'openai-chat' && { seal: 'scripted' }) },
      { type: 'text', pieces: expect.anything() },
      { type: 'call', call: { id, name: 'look', argumentsText: '{"at":1}' } },
    ];
    const readWhole = wireNamed(wire).readWhole(whole as Record<string, unknown>);
    const readStream = wireNamed(wire).readStream(streamed);
    expect(readWhole).toMatchObject({ ending: 'complete', parts: parts('call_1') });
    expect(readStream).toMatchObject({ ending: 'complete', parts: parts('call_2') });
    expect(readStream.parts[1]).toEqual({ type: 'text', pieces: ['Hel', 'lo'] });
    expect(model.requests.map(({ wire: by, messages }) => ({ by, messages }))).toEqual(
      Array(2).fill({ by: wire, messages: [{ role: 'user', text: 'hi' }] }),
    );
  });

  test('refuses with a status, and breaks off where the script says so', async () => {
    const model = await opened(refuse(429, 'slow down', { 'retry-after': '3' }), hangUp('half'));
    const refused = await ask(model.baseUrl, wire);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3']);
    expect(await refused.text()).toContain('slow down');
    const broken = await ask(model.baseUrl, wire, { stream: true });
    await expect(broken.text()).rejects.toThrow('terminated');
  });
});

test('a reply waits for a promise, and a function decides when it is asked', async () => {
  let release = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = await opened(after(ready, say('now')), ({ messages }) =>
    say(`you said ${messages[0]?.text}`),
  );
  const waiting = ask(model.baseUrl, 'openai-chat').then((response) => response.text());
  await model.asked(1);
  release();
  expect(await waiting).toContain('"now"');
  expect(await (await ask(model.baseUrl, 'openai-chat')).text()).toContain('you said hi');
  model.verify();
});

test('what a strict service would refuse is refused, and so is what the script does not have', async () => {
  const model = await opened();
  const orphan = { messages: [{ role: 'tool', tool_call_id: 'c9', content: 'x' }] };
  const fault = 'message 1: a result for c9, which no call just before asked for';
  expect(await (await ask(model.baseUrl, 'openai-chat', orphan)).json()).toEqual({
    error: { message: fault, type: 'scripted', code: 'scripted' },
  });
  const over = await ask(model.baseUrl, 'openai-chat');
  expect([over.status, await over.json()]).toMatchObject([
    400,
    { error: { message: 'The script is over: this is call 2' } },
  ]);
  model.play(callTools({ name: 'a' }));
  expect(() => model.verify()).toThrow(
    `A strict service would have refused a request: ${fault}\n1 replies of the script were not asked for\n1 calls came after the script was over`,
  );
});

test('a caller that leaves in the middle of a stream disturbs no other', async () => {
  const model = await opened(say(...Array<string>(2000).fill('x'.repeat(1000))), say('still here'));
  const { port } = new URL(model.baseUrl);
  const leaving = request({ port, path: paths['openai-chat'], method: 'POST', host: '127.0.0.1' });
  leaving.end(JSON.stringify({ ...hello['openai-chat'], stream: true }));
  const [response] = await once(leaving, 'response');
  response.destroy();
  expect(await (await ask(model.baseUrl, 'openai-chat')).text()).toContain('still here');
});
