import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HistoryMemory } from './history-memory.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('calls that come soon after one another share what they have in common, and a pause frees it', () => {
  const calls = new HistoryMemory();
  const first = calls.use();
  vi.advanceTimersByTime(4_000);
  expect(calls.use()).toBe(first);
  vi.advanceTimersByTime(4_000);
  expect(calls.use()).toBe(first);
  vi.advanceTimersByTime(5_000);
  expect(calls.use()).not.toBe(first);
});
