import { expect, test } from 'vitest';
import { Listeners } from './listeners.js';

const event = { type: 'a' };

test('a listener that is taken off while others are told is not told', () => {
  const heard: string[] = [];
  const listeners = new Listeners<{ type: string }>(() => undefined);
  listeners.add(undefined, () => undo());
  const undo = listeners.add(undefined, () => heard.push('gone'));
  listeners.tell(event);
  expect(heard).toEqual([]);
});

test('a listener that is added while others are told hears the next one', () => {
  const heard: string[] = [];
  const listeners = new Listeners<{ type: string }>(() => undefined);
  const undo = listeners.add(undefined, () => {
    undo();
    listeners.add(undefined, ({ type }) => heard.push(type));
  });
  listeners.tell(event);
  listeners.tell({ type: 'b' });
  expect(heard).toEqual(['b']);
});

test('the same function added twice is two listeners, each with its own undo', () => {
  let times = 0;
  const count = () => {
    times += 1;
  };
  const listeners = new Listeners<{ type: string }>(() => undefined);
  const undo = listeners.add('a', count);
  listeners.add('a', count);
  listeners.tell(event);
  undo();
  listeners.tell(event);
  listeners.tell({ type: 'b' });
  expect(times).toBe(3);
});
