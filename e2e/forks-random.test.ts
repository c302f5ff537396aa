import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  byExtent,
  liveRuntime,
  RuleModel,
  type RuntimeProcess,
  temporaryDirectory,
  type WireClient,
} from '@groundcrew/testkit';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';

const runtime = liveRuntime();
const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const clean of cleanups) await clean();
});

/** What may be done to sessions; numbers choose among those that are there. */
const step = fc.record({
  what: fc.constantFrom(
    'talk',
    'talk',
    'fork',
    'fork',
    'fork',
    'cut',
    'compact',
    'delete',
    'delete',
    'export',
    'kill',
  ),
  which: fc.nat(50),
  where: fc.nat(50),
});
type Step = { readonly what: string; readonly which: number; readonly where: number };

interface StoredEvent {
  readonly type: string;
  readonly id: string;
  readonly data: { readonly content?: string };
}

/** A runtime that is killed now and then, and what a plain model of it says that it has. */
class World {
  readonly home = temporaryDirectory();
  /** What was said in each session, in order. */
  readonly expected = new Map<string, string[]>();
  readonly words = new Set<string>();
  private running: { readonly process: RuntimeProcess; readonly client: WireClient } | undefined;
  private count = 0;

  constructor(private readonly settings: Readonly<Record<string, unknown>>) {
    cleanups.push(() => this.home.remove());
  }

  async client(): Promise<WireClient> {
    if (!this.running) {
      const process = runtime.spawn({ flags: ['--stdio'], home: this.home.path });
      this.running = { process, client: await runtime.connect(process, { hasGaps: true }) };
    }
    return this.running.client;
  }

  async kill(): Promise<void> {
    await this.running?.process.signal('SIGKILL');
    this.running = undefined;
  }

  async open(sessionId: string) {
    return (await this.client()).resume(sessionId, this.settings);
  }

  async begin(): Promise<void> {
    const session = await (await this.client()).create(this.settings);
    this.expected.set(session.sessionId, []);
    await this.talk(session.sessionId);
  }

  async talk(id: string): Promise<void> {
    this.count += 1;
    const word = `word-${this.count}-zq`;
    this.words.add(word);
    // Some bodies are inline, and some are not.
    const text = `${word} ${'and so on '.repeat(this.count % 4 === 0 ? 8_000 : 60)}`;
    await (await this.open(id)).turn(text);
    this.expected.get(id)?.push(text, 'noted');
  }

  async prompts(id: string): Promise<readonly StoredEvent[]> {
    const events = (await (await this.open(id)).stored()) as readonly StoredEvent[];
    return events.filter(({ type }) => type === 'user.message');
  }

  async said(id: string): Promise<readonly string[]> {
    const events = (await (await this.open(id)).stored()) as readonly StoredEvent[];
    return events.flatMap(({ type, data }) =>
      type === 'user.message' || type === 'assistant.message' ? [data.content ?? ''] : [],
    );
  }

  async take({ what, which, where }: Step): Promise<void> {
    const ids = [...this.expected.keys()];
    const id = ids[which % Math.max(1, ids.length)];
    if (id === undefined) return this.begin();
    const said = this.expected.get(id) ?? [];
    const client = await this.client();
    const cut = where % (said.length / 2 + 1);
    const toEventId = (await this.prompts(id))[cut]?.id;
    const kept = toEventId === undefined ? said : said.slice(0, cut * 2);
    if (what === 'talk') await this.talk(id);
    if (what === 'kill') await this.kill();
    if (what === 'compact')
      await (await this.open(id)).call('session.history.compact').catch(() => undefined);
    if (what === 'fork') {
      const made = await client.call<{ sessionId: string }>('sessions.fork', {
        sessionId: id,
        ...(toEventId !== undefined && { toEventId }),
      });
      this.expected.set(made.sessionId, [...kept]);
    }
    if (what === 'cut' && toEventId !== undefined) {
      await (await this.open(id)).call('session.history.truncate', { eventId: toEventId });
      this.expected.set(id, [...kept]);
    }
    if (what === 'export') {
      const { path, remove } = temporaryDirectory();
      cleanups.push(remove);
      const { directory } = await client.call<{ directory: string }>('sessions.export', {
        sessionId: id,
        path,
      });
      const copy = await client.call<{ sessionId: string }>('sessions.import', {
        path: directory,
        sessionId: `copy-${this.expected.size}-${this.count}-${which}-${where}`,
      });
      this.expected.set(copy.sessionId, [...said]);
    }
    if (what === 'delete') {
      await client.call('session.delete', { sessionId: id });
      this.expected.delete(id);
    }
  }
}

test('whatever is forked, cut, compacted, copied, deleted and killed, each session says what a plain model of it says, and deleted words are in no file', async () => {
  const model = await RuleModel.open(() => ({ chunks: ['noted'] }));
  cleanups.push(() => model.close());
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 18 }), async (steps) => {
      const world = new World(model.settings);
      await world.begin();
      for (const each of steps) await world.take(each);
      await world.kill();
      for (const [id, texts] of world.expected) expect(await world.said(id)).toEqual(texts);
      const alive = new Set([...world.expected.values()].flat().map((text) => text.split(' ')[0] ?? ''));
      for (const word of world.words)
        if (alive.has(word)) expect(filesWith(world.home.path, `${word} `)).not.toEqual([]);
      // A cut hides and keeps; with the last session that has it, a word is gone.
      for (const id of [...world.expected.keys()])
        await (await world.client()).call('session.delete', { sessionId: id });
      for (const word of world.words) expect(filesWith(world.home.path, `${word} `)).toEqual([]);
      await world.kill();
    }),
    { numRuns: byExtent({ short: 1, full: 4 }), seed: 19, endOnFailure: true },
  );
}, 120_000);

/** The files of a home that have the text in them. */
function filesWith(home: string, text: string): readonly string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
