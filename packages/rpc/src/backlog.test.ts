import { expect, test } from 'vitest';
import { Backlog } from './backlog.js';

test('a peer is behind over the mark and has caught up at half of it', async () => {
  const backlog = new Backlog(100);
  expect([backlog.add(100), backlog.add(1), backlog.bytes]).toEqual([true, false, 101]);
  const story: string[] = [];
  const waiting = [backlog.drained(), backlog.drained()].map((drained) =>
    drained.then(() => story.push('drained')),
  );
  backlog.remove(50);
  story.push(`room: ${backlog.add(0)}`);
  backlog.remove(1);
  await Promise.all(waiting);
  expect(story).toEqual(['room: false', 'drained', 'drained']);
  expect(backlog.add(1)).toBe(true);
});

test('at its end it releases all waiting callers and counts no more', async () => {
  const backlog = new Backlog(10);
  backlog.add(11);
  const drained = backlog.drained();
  backlog.end();
  await drained;
  backlog.remove(11);
  expect([backlog.bytes, backlog.add(5), backlog.bytes]).toEqual([0, false, 0]);
  await backlog.drained();
});
