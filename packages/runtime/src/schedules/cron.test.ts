import { describe, expect, test } from 'vitest';
import { nextCronTime } from './cron.js';

const next = (cron: string, after: string, zone?: string) => {
  const time = nextCronTime(cron, Date.parse(after), zone);
  return time === undefined ? undefined : new Date(time).toISOString();
};

describe('the next time of a cron expression', () => {
  test.each([
    ['* * * * *', '2026-01-01T00:00:30Z', undefined, '2026-01-01T00:01:00.000Z'],
    ['*/15 * * * *', '2026-01-01T00:45:00Z', undefined, '2026-01-01T01:00:00.000Z'],
    ['0 9 * * 1-5', '2026-11-20T10:00:00Z', 'Europe/Zurich', '2026-11-23T08:00:00.000Z'],
    ['0 9 * * MON', '2026-11-20T10:00:00Z', undefined, '2026-11-23T09:00:00.000Z'],
    ['30 4 1,15 * 5', '2026-01-02T00:00:00Z', undefined, '2026-01-02T04:30:00.000Z'],
    ['0 0 29 feb *', '2026-01-01T00:00:00Z', undefined, '2028-02-29T00:00:00.000Z'],
    ['0 12 * * 7', '2026-11-20T00:00:00Z', undefined, '2026-11-22T12:00:00.000Z'],
    // Clocks go from 2 to 3: half past two does not come on that day.
    ['30 2 * * *', '2026-03-28T12:00:00Z', 'Europe/Zurich', '2026-03-30T00:30:00.000Z'],
    // Clocks go back from 3 to 2: it comes once.
    ['30 2 * * *', '2026-10-25T01:30:00Z', 'Europe/Zurich', '2026-10-26T01:30:00.000Z'],
    ['5/20 * * * *', '2026-01-01T00:06:00Z', undefined, '2026-01-01T00:25:00.000Z'],
  ])('%s after %s in %s is %s', (cron, after, zone, expected) => {
    expect(next(cron, after, zone)).toBe(expected);
  });

  test.each([
    'bad',
    '',
    '* * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '5-1 * * * *',
    '*/0 * * * *',
    '0 0 31 2 *',
    '* * * foo *',
    '1-x * * * *',
  ])('there is none for %j', (cron) => {
    expect(next(cron, '2026-01-01T00:00:00Z')).toBeUndefined();
  });

  test('there is none in a zone that is not known', () => {
    expect(next('* * * * *', '2026-01-01T00:00:00Z', 'Nowhere/City')).toBeUndefined();
  });
});
