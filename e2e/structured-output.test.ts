import { GroundcrewError, OutputError } from '@groundcrew/sdk';
import { callTools, hold, liveRuntime, providerOf, refuse, say } from '@groundcrew/testkit';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { dataOf } from './hooked.js';
import { sdkWorld } from './sdk-world.js';

const runtime = liveRuntime({ flags: ['--no-auto-update', '--port', '0'] });
const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, people: { type: 'integer', minimum: 0 } },
  required: ['city', 'people'],
  additionalProperties: false,
};
const wish = { output: { schema, name: 'city' } };
const paris = { city: 'Paris', people: 2_100_000 };

describe('a client that speaks the wire', () => {
  test('gets a value that fits, and the service gets the schema', async () => {
    const { session, model } = await runtime.session([say(JSON.stringify(paris))]);
    await session.turn('Which city?', wish);
    expect(dataOf(session, 'assistant.output')).toEqual([
      { interactionId: expect.any(String), name: 'city', value: paris, repairs: 0 },
    ]);
    const { body } = await model.asked(1);
    expect(body.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'city', schema, strict: true },
    });
    expect(JSON.stringify(body.messages)).toContain('JSON Schema');
  });

  test.each([
    ['responses', { wireApi: 'responses' }, 'text'],
    ['messages', { type: 'anthropic' }, 'output_config'],
  ])('of the wire of %s too', async (_, more, field) => {
    const model = runtime.script(say(JSON.stringify(paris)));
    const { model: id, provider } = providerOf(model);
    const session = await runtime.client.create({ model: id, provider: { ...provider, ...more } });
    await session.turn('Which city?', wish);
    expect(dataOf(session, 'assistant.output')).toMatchObject([{ value: paris }]);
    expect(model.requests[0]?.body).toMatchObject({ [field]: { format: { type: 'json_schema', schema } } });
  });

  test('after tools were called, and with a fence around it', async () => {
    const replies = [
      callTools({ id: 'c1', name: 'look', arguments: {} }),
      say(`\`\`\`json\n${JSON.stringify(paris)}\n\`\`\``),
    ];
    const { session } = await runtime.session(replies, { tools: [{ name: 'look', skipPermission: true }] });
    await session.send('Which city?', wish);
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'Paris' });
    await session.next('session.idle');
    expect(dataOf(session, 'assistant.output')).toMatchObject([{ value: paris }]);
  });

  test('of a service that refuses schemas: the model reads it in its prompt', async () => {
    const replies = [refuse(400, 'response_format is not supported'), say(JSON.stringify(paris))];
    const { session, model } = await runtime.session(replies);
    await session.turn('Which city?', wish);
    expect(dataOf(session, 'assistant.output')).toMatchObject([{ value: paris }]);
    expect(model.requests[1]?.body).not.toHaveProperty('response_format');
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('JSON Schema');
  });

  test('after at most two repairs, each of which says what was wrong', async () => {
    const replies = [say('Paris, of course'), say('{"city":"Paris"}'), say(JSON.stringify(paris))];
    const { session, model } = await runtime.session(replies);
    await session.turn('Which city?', wish);
    expect(dataOf(session, 'assistant.output')).toMatchObject([{ value: paris, repairs: 2 }]);
    expect(dataOf(session, 'user.message').map(({ content }) => content)).toEqual([
      'Which city?',
      expect.stringContaining('it is no JSON'),
      expect.stringContaining('$.people: is missing'),
    ]);
    expect(model.requests).toHaveLength(3);
  });

  test('or a clear error with the last text', async () => {
    const replies = [say('no'), say('still no'), say('{"city":"Paris","people":-1}'), say('on we go')];
    const { session, model } = await runtime.session(replies);
    await session.turn('Which city?', wish);
    expect(dataOf(session, 'assistant.output')).toEqual([]);
    expect(dataOf(session, 'session.error')).toMatchObject([
      {
        errorType: 'structured_output',
        message: expect.stringContaining('$.people: is less than 0'),
        lastText: '{"city":"Paris","people":-1}',
      },
    ]);
    await session.turn('Never mind');
    expect(model.requests).toHaveLength(4);
    expect(model.requests[3]?.body).not.toHaveProperty('response_format');
  });

  test('of a pattern and a format: the model is asked again for what does not match', async () => {
    const wanted = {
      type: 'object',
      properties: {
        code: { type: 'string', pattern: '^[A-Z]{2}\\d$' },
        day: { type: 'string', format: 'date' },
      },
      required: ['code', 'day'],
    };
    const replies = [
      say('{"code":"x","day":"2024-01-01"}'),
      say('{"code":"AB1","day":"tomorrow"}'),
      say('{"code":"AB1","day":"2024-01-01"}'),
    ];
    const { session, model } = await runtime.session(replies);
    await session.turn('Which?', { output: { schema: wanted } });
    expect(dataOf(session, 'assistant.output')).toMatchObject([
      { value: { code: 'AB1', day: '2024-01-01' }, repairs: 2 },
    ]);
    const said = model.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(said[1]).toContain('$.code: does not match the pattern');
    expect(said[2]).toContain('$.day: is no date');
  });

  test.each<[string, object, string]>([
    ['a pattern that takes for ever', { type: 'string', pattern: '^(a+)+$' }, `"${'a'.repeat(40)}!"`],
    ['a schema that refers to itself twice', { anyOf: [{ $ref: '#' }, { $ref: '#' }] }, '1'],
  ])(
    '%s holds up no other client, and ends in a clear error',
    async (_, hostile, answer) => {
      const { session } = await runtime.session([say(answer)]);
      const other = await runtime.connect();
      await session.send('Which?', { output: { schema: hostile } });
      let longest = 0;
      const isIdle = () => session.events.some(({ type }) => type === 'session.idle');
      while (!isIdle()) {
        const begun = performance.now();
        await other.call('ping', {});
        longest = Math.max(longest, performance.now() - begun);
      }
      expect(dataOf(session, 'session.error')).toMatchObject([
        { errorType: 'structured_output', message: expect.stringContaining('could not be checked') },
      ]);
      expect(dataOf(session, 'assistant.output')).toEqual([]);
      expect(longest).toBeLessThan(2000);
    },
    30_000,
  );

  test('and a pattern that is none is refused before a model is asked', async () => {
    const { session, model } = await runtime.session([]);
    const output = { schema: { properties: { a: { pattern: '(' } } } };
    expect((await session.failure('session.send', { prompt: 'Which?', output })).message).toContain(
      'output.schema.properties.a: the pattern ( is no regular expression',
    );
    expect(model.requests).toEqual([]);
  });

  test('and a schema that is too large is refused', async () => {
    const { session } = await runtime.session([]);
    const output = { schema: { description: 'x'.repeat(70_000) } };
    expect(await session.failure('session.send', { prompt: 'Hello', output })).toMatchObject({
      message: expect.stringContaining('at most 65536'),
    });
  });

  test('also when the runtime is killed while the model answers, and of a prompt that waited', async () => {
    const process = runtime.spawn({ flags: ['--no-auto-update', '--port', '0'] });
    const held = hold(say('lost'));
    const model = runtime.script(
      held.reply,
      say('nonsense'),
      say(JSON.stringify(paris)),
      say('{"city":"Rome","people":1}'),
    );
    const client = await runtime.connect(process, { hasGaps: true });
    const before = await client.create(providerOf(model));
    await before.send('Which city?', wish);
    await before.send('Another one', wish);
    await model.asked(1);
    await process.signal('SIGKILL');
    held.release();
    const session = await runtime.client.resume(before.sessionId, {
      ...providerOf(model),
      continuePendingWork: true,
    });
    await session.next('session.idle');
    expect(dataOf(session, 'assistant.output')).toMatchObject([
      { value: paris, repairs: 1 },
      { value: { city: 'Rome', people: 1 }, repairs: 0 },
    ]);
  });
});

describe('an app of the SDK', () => {
  const world = sdkWorld();
  const City = z.object({ city: z.string(), people: z.int(), since: z.string().default('long ago') });

  test('gets a typed value, defaults included', async () => {
    const { session } = await world.session([say(JSON.stringify(paris))]);
    const answer = await session.sendAndWait({ prompt: 'Which city?', output: City });
    expectTypeOf(answer).toEqualTypeOf<{ city: string; people: number; since: string }>();
    expect(answer).toEqual({ ...paris, since: 'long ago' });
  });

  test('gets the last text with the error when it cannot be had', async () => {
    const { session } = await world.session([say('one'), say('two'), say('three')]);
    const error = await session
      .sendAndWait({ prompt: 'Which city?', output: City })
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OutputError);
    expect(error).toBeInstanceOf(GroundcrewError);
    expect(error).toMatchObject({ kind: 'output_invalid', lastText: 'three' });
  });

  test('may name a JSON Schema, and its type is read from it', async () => {
    const { session } = await world.session([say('{"ok":true}')]);
    const output = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const;
    const answer = await session.sendAndWait({ prompt: 'Ready?', output });
    expectTypeOf(answer.ok).toEqualTypeOf<boolean>();
    expect(answer).toEqual({ ok: true });
  });
});
