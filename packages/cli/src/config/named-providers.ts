import { join } from 'node:path';
import type { Environment } from '@groundcrew/models';
import { isObject } from '@groundcrew/protocol';
import type { ProviderSettings, SessionSettings } from '@groundcrew/runtime';
import { settingsText } from './settings-text.js';

/** Model services that sessions name, and that each node has in a file of its own. */
export interface NamedProviders {
  has(name: string): boolean;
  /** Those that can be used; none where the file cannot be read. */
  names(): readonly string[];
  /** The settings with the service that they name. Throws when this node does not have it. */
  resolve(settings: SessionSettings): SessionSettings;
}

/**
 * Reads the file of `GROUNDCREW_PROVIDERS`, else `providers.json` of the home, whenever a session is opened: keys may change. It
 * has an object with one service for each name, as `provider` in config.json.
 */
export function namedProviders(homeDirectory: string, environment: Environment): NamedProviders {
  const path = environment.GROUNDCREW_PROVIDERS || join(homeDirectory, 'providers.json');
  const find = (name: string) => (Object.hasOwn(read(path), name) ? read(path)[name] : undefined);
  return {
    has: (name) => find(name)?.baseUrl !== undefined,
    names: () => {
      try {
        return Object.entries(read(path)).flatMap(([name, { baseUrl }]) =>
          baseUrl === undefined ? [] : [name],
        );
      } catch {
        return [];
      }
    },
    resolve: (settings) => {
      const { providerRef } = settings;
      if (providerRef === undefined || settings.provider?.baseUrl !== undefined) return settings;
      const provider = find(providerRef);
      if (provider?.baseUrl !== undefined) return { ...settings, provider };
      throw new Error(
        `The provider ${JSON.stringify(providerRef)} that the session names is not known at this node: ${path} has no such name with a baseUrl`,
      );
    },
  };
}

/** A file that is not there names nothing. Throws what is wrong with one that cannot be read. */
function read(path: string): Readonly<Record<string, ProviderSettings>> {
  try {
    const value: unknown = JSON.parse(settingsText(path) ?? '{}');
    if (isObject(value)) return value as Readonly<Record<string, ProviderSettings>>;
  } catch {
    // The text may hold keys: it is not repeated.
    throw new Error(`${path} cannot be read as JSON`);
  }
  throw new Error(`${path} must hold an object with a provider for each name`);
}
