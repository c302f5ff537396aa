import { expect, test } from 'vitest';
import { RepeatedWork } from './repeated-work.js';

test('what is asked for at any moment of the work is done when the call resolves, and nothing is done twice at once', async () => {
  for (let moment = 0; moment < 12; moment += 1) {
    let waiting = 1;
    let atOnce = 0;
    const work = new RepeatedWork(async () => {
      atOnce += 1;
      expect(atOnce).toBe(1);
      waiting = 0;
      await Promise.resolve();
      atOnce -= 1;
    });
    const first = work.run();
    for (let turn = 0; turn < moment; turn += 1) await Promise.resolve();
    waiting = 1;
    await work.run();
    expect({ moment, waiting }).toEqual({ moment, waiting: 0 });
    await first;
  }
});

test('work that failed is done again when it is asked for again', async () => {
  let times = 0;
  const work = new RepeatedWork(async () => {
    times += 1;
    if (times === 1) throw new Error('the disk is full');
  });
  await expect(work.run()).rejects.toThrow('the disk is full');
  await work.run();
  expect(times).toBe(2);
});

test('closing waits for the work at hand; nothing begins after it', async () => {
  let times = 0;
  const work = new RepeatedWork(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    times += 1;
  });
  const running = work.run();
  await work.close();
  expect({ times, isClosed: work.isClosed }).toEqual({ times: 1, isClosed: true });
  await running;
  await work.run();
  expect(times).toBe(1);
});
