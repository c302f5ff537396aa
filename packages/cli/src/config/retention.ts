import { UsageError } from '../flags/arguments.js';
import { readRetentionSetting } from './config-file.js';
import { configPath } from './home.js';

/** Which sessions go by themselves; those that users named, and those in use, never do. */
export interface Retention {
  readonly olderThanDays?: number;
  readonly keepNewest?: number;
  readonly mostBytes?: number;
}

const days: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7 };
const bytes: Readonly<Record<string, number>> = { kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };

/** Days, by a text such as 30d, 12h or 2w. Throws UsageError. */
export function daysOf(text: string, name: string): number {
  return measured(text, days) ?? refuse(name, 'a time such as 30d, 12h or 2w', text);
}

/** Bytes, by a text such as 500MB or 2GB. Throws UsageError. */
export function bytesOf(text: string, name: string): number {
  return measured(text, bytes) ?? refuse(name, 'a size such as 500MB or 2GB', text);
}

/** What the settings of a home say; undefined where they say nothing. Throws UsageError. */
export function standingRetention(homeDirectory: string): Retention | undefined {
  const { olderThan, keep, maxSize } = readRetentionSetting(configPath(homeDirectory)) ?? {};
  const retention = {
    ...(olderThan !== undefined && { olderThanDays: daysOf(olderThan, 'retention.olderThan') }),
    ...(keep !== undefined && { keepNewest: keep }),
    ...(maxSize !== undefined && { mostBytes: bytesOf(maxSize, 'retention.maxSize') }),
  };
  return Object.keys(retention).length === 0 ? undefined : retention;
}

function measured(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text.trim()) ?? [];
  const factor = units[unit.toLowerCase()];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}

function refuse(name: string, expected: string, text: string): never {
  throw new UsageError(`${name} needs ${expected}, not ${text}`);
}
