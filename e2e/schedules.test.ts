import { systemClock } from '@groundcrew/runtime';
import { inProcessRuntime, liveRuntime, providerOf, say, type WireSession } from '@groundcrew/testkit';
import { describe, expect, test, vi } from 'vitest';

const runtime = liveRuntime();

const prompts = async (session: WireSession) =>
  (await session.stored()).flatMap(({ type, data }) => (type === 'user.message' ? [data] : []));
const entries = async (session: WireSession) =>
  (await session.call<{ entries: { id: number; nextRunAt: string }[] }>('session.schedule.list')).entries;
const past = () => Date.now() - 1000;

describe('a scheduled prompt', () => {
  test('comes once at its time, under its number, and is gone', async () => {
    const { session, model } = await runtime.session([say('done')]);
    const at = past();
    expect(
      await session.call('session.schedule.addAt', { at, prompt: 'Report', displayPrompt: 'Shown' }),
    ).toEqual({
      entry: {
        id: 1,
        at,
        prompt: 'Report',
        displayPrompt: 'Shown',
        recurring: false,
        nextRunAt: new Date(at).toISOString(),
      },
    });
    const { data } = await session.next('session.schedule_cancelled');
    expect(data).toEqual({ id: 1 });
    await session.next('session.idle');
    expect(await prompts(session)).toEqual([
      expect.objectContaining({ content: '[Scheduled prompt #1]\nShown', source: 'schedule-1' }),
    ]);
    expect(String(model.requests[0]?.body.messages.at(-1)?.content)).toMatch(
      /\[Scheduled prompt #1\]\nReport$/,
    );
    expect(await entries(session)).toEqual([]);
  });

  test('is listed with its next time, stopped by its number, and refused in words that help', async () => {
    const { session } = await runtime.session([]);
    const add = (params: object) => session.call('session.schedule.add', { prompt: 'Look', ...params });
    expect(await add({ interval: '10m' })).toMatchObject({
      entry: { id: 1, intervalMs: 600_000, recurring: true },
    });
    expect(await add({ interval: '90' })).toMatchObject({ entry: { id: 2, intervalMs: 5_400_000 } });
    const cron = { cron: '0 9 * * 1-5', tz: 'Europe/Zurich', prompt: 'Look' };
    expect(await session.call('session.schedule.addCron', cron)).toMatchObject({
      entry: { id: 3, ...cron, nextRunAt: expect.stringMatching(/T0[78]:00:00\.000Z$/) },
    });
    expect(await session.call('session.schedule.stop', { id: 2 })).toMatchObject({ entry: { id: 2 } });
    expect(await session.call('session.schedule.stop', { id: 2 })).toEqual({});
    expect((await entries(session)).map(({ id }) => id)).toEqual([1, 3]);
    expect(await add({ interval: '5s' })).toEqual({ error: 'Minimum interval is 10s.' });
    expect(await add({ interval: '1m30s' })).toEqual({
      error: 'Invalid interval "1m30s". Try 30s, 5m, 2h, or 1d.',
    });
    expect(await session.call('session.schedule.addCron', { ...cron, cron: 'bad' })).toEqual({
      error: 'Invalid cron expression "bad".',
    });
    expect(await session.call('session.schedule.addAt', { prompt: 'Look' })).toEqual({
      error: 'Invalid scheduled time.',
    });
  });

  test.each([1e308, -1e308, 8.64e15 + 1])(
    'at %d, which no calendar has, is refused and leaves the list as it was',
    async (at) => {
      const { session } = await runtime.session([]);
      const refusal = { error: 'Invalid scheduled time.' };
      expect(await session.call('session.schedule.addAt', { at, prompt: 'Look' })).toEqual(refusal);
      const interval = '999999999999999d';
      expect(await session.call('session.schedule.add', { interval, prompt: 'Look' })).toEqual({
        error: `Invalid interval "${interval}": it leads to no date.`,
      });
      expect(await entries(session)).toEqual([]);
    },
  );

  test('survives the process, and comes once to the next that opens the session', async () => {
    const model = runtime.script(say('one'), say('done'), say('again'));
    const first = runtime.spawn({ flags: ['--stdio'] });
    const before = await (await runtime.connect(first)).create(providerOf(model));
    await before.turn('Hello');
    await before.call('session.schedule.add', { interval: '1d', prompt: 'Daily' });
    const at = Date.now() + 1500;
    await before.call('session.schedule.addAt', { at, prompt: 'Soon' });
    await first.signal('SIGKILL');
    const second = runtime.spawn({ flags: ['--stdio'] });
    const session = await (await runtime.connect(second)).resume(before.sessionId, providerOf(model));
    await session.next('session.schedule_cancelled');
    await session.next('session.idle');
    await second.signal('SIGKILL');
    const third = runtime.spawn({ flags: ['--stdio'] });
    const last = await (await runtime.connect(third)).resume(before.sessionId, providerOf(model));
    await last.turn('And?');
    expect((await prompts(last)).map((data) => (data as { content: string }).content)).toEqual([
      'Hello',
      '[Scheduled prompt #2]\nSoon',
      'And?',
    ]);
    expect((await entries(last)).map(({ id }) => id)).toEqual([1]);
  });

  test('stays with the session when its client is lost, and comes all the same', async () => {
    const model = runtime.script(say('one'), say('done'));
    const process = runtime.spawn({ flags: ['--port', '0', '--session-idle-timeout', '1'] });
    const client = await runtime.connect(process, { hasGaps: true });
    const session = await client.create(providerOf(model));
    await session.turn('Hello');
    await session.call('session.schedule.addAt', { at: Date.now() + 2500, prompt: 'Alone' });
    await client.close();
    await vi.waitFor(() => expect(model.requests).toHaveLength(2), { timeout: 10_000 });
  });

  test('comes when the clock has jumped beyond its time, and not before when it was set back', async () => {
    let jump = 0;
    const clock = { ...systemClock(), now: () => new Date(Date.now() + jump) };
    const { api, client, close } = await inProcessRuntime({ clock });
    try {
      const model = api.script(say('done'));
      const session = await client.create(providerOf(model));
      const at = Date.now() + 5000;
      await session.call('session.schedule.addAt', { at, prompt: 'Late' });
      jump = 3_600_000;
      await session.next('session.schedule_cancelled');
      await session.untilIdle();
      expect(Date.now()).toBeLessThan(at - 1000);
      await session.call('session.schedule.addAt', { at: Date.now() + jump + 200, prompt: 'Back' });
      jump = 0;
      await session.call('session.schedule.addAt', { at: Date.now() + 300, prompt: 'Later' });
      model.play(say('more'));
      const { data } = await session.next('session.schedule_cancelled');
      expect(data).toEqual({ id: 3 });
    } finally {
      await close();
    }
  });
});
