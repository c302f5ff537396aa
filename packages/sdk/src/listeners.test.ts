import { expect, test } from 'vitest';
import { Listeners } from './listeners.js';

const event = { type: 'a' };

test('a listener that is removed while others are called is not called', () => {
  const received: string[] = [];
  const listeners = new Listeners<{ type: string }>(() => undefined);
  listeners.add(undefined, () => undo());
  const undo = listeners.add(undefined, () => received.push('gone'));
  listeners.deliver(event);
  expect(received).toEqual([]);
});

test('a listener that is added while others are called gets the next event', () => {
  const received: string[] = [];
  const listeners = new Listeners<{ type: string }>(() => undefined);
  const undo = listeners.add(undefined, () => {
    undo();
    listeners.add(undefined, ({ type }) => received.push(type));
  });
  listeners.deliver(event);
  listeners.deliver({ type: 'b' });
  expect(received).toEqual(['b']);
});

test('the same function added twice is two listeners, each with its own undo', () => {
  let times = 0;
  const count = () => {
    times += 1;
  };
  const listeners = new Listeners<{ type: string }>(() => undefined);
  const undo = listeners.add('a', count);
  listeners.add('a', count);
  listeners.deliver(event);
  undo();
  listeners.deliver(event);
  listeners.deliver({ type: 'b' });
  expect(times).toBe(3);
});
