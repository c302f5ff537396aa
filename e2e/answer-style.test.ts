import type { AnyEvent } from '@groundcrew/protocol';
import { liveRuntime, providerOf, type ScriptedModel, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();

const warningsOf = (events: readonly AnyEvent[]) =>
  events.flatMap(({ type, data }) =>
    type === 'session.warning' ? [(data as { message: string }).message] : [],
  );

function sessionOn(wire: object, model: ScriptedModel, more: object = {}) {
  const { provider, ...rest } = providerOf(model);
  return runtime.client.create({ ...rest, provider: { ...provider, ...wire }, ...more });
}

/** What the service was sent of a style. */
const styleIn = ({ requests }: ScriptedModel) =>
  requests.map(({ body: { verbosity, text, reasoning, reasoning_effort: effort } }) => ({
    ...(verbosity !== undefined && { verbosity }),
    ...(text !== undefined && { text }),
    ...(reasoning !== undefined && { reasoning }),
    ...(effort !== undefined && { effort }),
  }));

const chat = { type: 'openai', wireApi: 'completions' };
const responses = { type: 'openai', wireApi: 'responses' };
const messages = { type: 'anthropic' };
const wished = { verbosity: 'low', reasoningSummary: 'detailed' };
const about = (name: string) => expect.stringContaining(`The option '${name}' has no effect on the model`);

describe('how much answers say, and what is shown of thoughts', () => {
  test.each([
    [
      'responses',
      responses,
      'scripted',
      { text: { verbosity: 'low' }, reasoning: { summary: 'detailed' } },
      [],
    ],
    ['chat completions', chat, 'scripted', { verbosity: 'low' }, ['reasoningSummary']],
    ['messages', messages, 'scripted', {}, ['verbosity', 'reasoningSummary']],
    ['a model that takes neither', responses, 'gpt-4.1', {}, ['verbosity', 'reasoningSummary']],
    [
      'a model that takes both',
      responses,
      'gpt-5',
      { text: { verbosity: 'low' }, reasoning: { summary: 'detailed' } },
      [],
    ],
  ] as const)(
    '%s: is sent where there is a field, else warned about, once',
    async (_, wire, name, sent, unsent) => {
      const model = runtime.script(say('a'), say('b'));
      const session = await sessionOn(wire, model, { ...wished, model: name });
      const events = [...(await session.turn('One')), ...(await session.turn('Two'))];
      expect(styleIn(model)).toEqual([sent, sent]);
      expect(warningsOf(events)).toEqual(unsent.map(about));
    },
  );

  test('a summary that is not wanted is not asked for, and an effort without a wish asks for one', async () => {
    const model = runtime.script(say('a'), say('b'));
    const session = await sessionOn(responses, model, { reasoningEffort: 'high' });
    await session.turn('One');
    await session.call('session.options.update', { reasoningSummary: 'none' });
    await session.turn('Two');
    expect(styleIn(model)).toEqual([
      { reasoning: { effort: 'high', summary: 'auto' } },
      { reasoning: { effort: 'high' } },
    ]);
  });

  test('a wish changes by an update, a switch and a resume, and holds in the next process', async () => {
    const model = runtime.script(...['a', 'b', 'c', 'd'].map(say));
    const session = await sessionOn(responses, model, { verbosity: 'low' });
    await session.turn('One');
    await session.call('session.options.update', { verbosity: 'high' });
    await session.turn('Two');
    await session.call('session.model.switchTo', { modelId: 'scripted', reasoningSummary: 'concise' });
    await session.turn('Three');
    await session.call('session.destroy');
    const other = await runtime.connect(runtime.spawn(), { hasGaps: true });
    const { provider, ...rest } = providerOf(model);
    const again = await other.resume(session.sessionId, { ...rest, provider: { ...provider, ...responses } });
    await again.turn('Four');
    expect(styleIn(model)).toEqual([
      { text: { verbosity: 'low' } },
      { text: { verbosity: 'high' } },
      { text: { verbosity: 'high' }, reasoning: { summary: 'concise' } },
      { text: { verbosity: 'high' }, reasoning: { summary: 'concise' } },
    ]);
  });

  test('a word that means nothing is named, with the nearest that does, and is not sent', async () => {
    const model = runtime.script(say('a'));
    const session = await sessionOn(responses, model, { verbosity: 'hihg' });
    expect(warningsOf(await session.turn('One'))).toEqual([
      `The option 'verbosity' has no effect as "hihg": known are "low", "medium", "high". Did you mean 'high'?`,
    ]);
    expect(styleIn(model)).toEqual([{}]);
  });
});

describe('limits of images', () => {
  const png = (bytes: number) => Buffer.alloc(bytes, 1).toString('base64');
  const blob = (bytes: number, mimeType = 'image/png') => ({ type: 'blob', mimeType, data: png(bytes) });
  const limited = (vision: object) => ({
    modelCapabilities: { supports: { vision: true }, limits: { vision } },
  });
  interface SentPart {
    readonly text?: string;
    readonly image_url?: { readonly url: string };
  }
  const partsOf = (content: unknown) => (Array.isArray(content) ? (content as readonly SentPart[]) : []);
  /** Sizes of the images of a request, and what stands in the place of others. */
  const seen = ({ requests }: ScriptedModel): readonly (readonly (string | number)[])[] =>
    requests.map(({ body }) =>
      body.messages.flatMap<string | number>(({ content }) =>
        partsOf(content).flatMap<string | number>((part) => {
          const data = part.image_url?.url.split(',')[1];
          if (data !== undefined) return [Buffer.byteLength(data, 'base64')];
          return part.text?.startsWith('[Image left out') ? [part.text] : [];
        }),
      ),
    );

  test('an image that is too large, of another type, or one too many is left out, and users and model learn why', async () => {
    const model = runtime.script(say('a'));
    const vision = { max_prompt_images: 2, max_prompt_image_size: 10, supported_media_types: ['image/png'] };
    const session = await sessionOn(chat, model, limited(vision));
    const events = await session.turn('Look', {
      attachments: [blob(4), blob(11), blob(5, 'image/webp'), blob(6), blob(10)],
    });
    const large = 'it has 11 bytes, and the model takes 10 at most';
    const type = 'it is image/webp, and the model takes image/png';
    const many = 'the model takes 2 at a time, and the newest come first';
    expect(seen(model)).toEqual([
      [`[Image left out: ${many}]`, `[Image left out: ${large}]`, `[Image left out: ${type}]`, 6, 10],
    ]);
    expect(warningsOf(events)).toEqual(
      [large, type, many].map((reason) => `The model does not see an image of the prompt: ${reason}.`),
    );
  });

  test('images of earlier prompts make room for newer ones, and come back under a larger limit', async () => {
    const model = runtime.script(say('a'), say('b'), say('c'));
    const session = await sessionOn(chat, model, limited({ max_prompt_images: 1 }));
    expect(warningsOf(await session.turn('One', { attachments: [blob(1)] }))).toEqual([]);
    expect(warningsOf(await session.turn('Two', { attachments: [blob(2)] }))).toEqual([]);
    await session.call('session.options.update', limited({ max_prompt_images: 3 }));
    await session.turn('Three');
    expect(seen(model)).toEqual([[1], [expect.stringContaining('1 at a time'), 2], [1, 2]]);
  });

  test('none at all is a limit too, also one that the provider names', async () => {
    const model = runtime.script(say('a'));
    const { modelCapabilities } = limited({ max_prompt_images: 0 });
    const session = await sessionOn({ ...chat, modelCapabilities }, model);
    expect(warningsOf(await session.turn('Look', { attachments: [blob(1), blob(2)] }))).toEqual([
      'The model does not see 2 images of the prompt: the model takes 0 at a time, and the newest come first.',
    ]);
    expect(seen(model)[0]).toHaveLength(2);
  });
});
