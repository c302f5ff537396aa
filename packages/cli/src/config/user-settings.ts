import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from '@groundcrew/models';
import { isObject } from '@groundcrew/protocol';
import type { UserSettings } from '@groundcrew/server';
import { withFileLock } from '@groundcrew/store-sqlite';
import { configPath } from './home.js';
import { settingsText } from './settings-text.js';

interface Setting {
  readonly default: unknown;
  readonly variable: string;
}

/**
 * What clients may read and change of a home's settings. What protects the user (`allow`, `sandbox`, `fileHooks`,
 * `headerVariables`) and what holds keys (`provider`) is written by hand only.
 */
const settings: Readonly<Record<string, Setting>> = {
  logLevel: { default: 'warning', variable: 'GROUNDCREW_LOG_LEVEL' },
  model: { default: null, variable: 'GROUNDCREW_MODEL' },
  modelIdleTimeout: { default: null, variable: 'GROUNDCREW_MODEL_IDLE_TIMEOUT' },
  retryAfterLimit: { default: null, variable: 'GROUNDCREW_RETRY_AFTER_LIMIT' },
  sessionIdleTimeout: { default: 0, variable: 'GROUNDCREW_SESSION_IDLE_TIMEOUT' },
  streaming: { default: true, variable: 'GROUNDCREW_STREAMING' },
};

/** The settings of a home, as clients see and change them. */
export function userSettings(homeDirectory: string, environment: Environment): UserSettings {
  const path = configPath(homeDirectory);
  return {
    async read() {
      const stored = read(path);
      const entries = Object.entries(settings).map(([name, { default: standard }]) => {
        const isDefault = !Object.hasOwn(stored, name);
        return [name, { value: isDefault ? standard : stored[name], default: standard, isDefault }] as const;
      });
      return Object.fromEntries(entries);
    },
    async change(changes) {
      for (const name of Object.keys(changes)) requireSetting(name);
      const guard = join(homeDirectory, 'run', 'config.guard');
      mkdirSync(dirname(guard), { recursive: true, mode: 0o700 });
      await withFileLock(guard, () => write(path, { ...read(path), ...changes }));
      return Object.keys(changes).filter((name) => environment[settings[name]?.variable ?? '']);
    },
  };
}

function requireSetting(name: string): void {
  if (Object.hasOwn(settings, name)) return;
  throw new Error(
    `'${name}' is no setting that clients may change; those are ${Object.keys(settings).join(', ')}.`,
  );
}

function read(path: string): Readonly<Record<string, unknown>> {
  const source = settingsText(path);
  if (source === undefined) return {};
  const value: unknown = JSON.parse(source);
  if (!isObject(value)) throw new Error(`${path}: holds no object`);
  return value;
}

/** Writes what the program itself will read without complaint; a value it would not take changes nothing. */
async function write(path: string, changed: Readonly<Record<string, unknown>>): Promise<void> {
  const { readConfigFile } = await import('./config-file.js');
  const kept = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null));
  const draft = `${path}.${process.pid}.tmp`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, `${JSON.stringify(kept, undefined, 2)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    readConfigFile(draft, () => undefined);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
