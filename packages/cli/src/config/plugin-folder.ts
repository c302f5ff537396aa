import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { settingsText } from './settings-text.js';

/** A plugin and where it is from. */
export interface FoundPlugin {
  readonly name: string;
  /** Empty for one that is named by its directory. */
  readonly marketplace: string;
  readonly directSourceId?: string;
  readonly version?: string;
  /** The directory that it is copied from. */
  readonly source: string;
}

/** Whether a plugin or a marketplace may have this name: it becomes a directory. */
export function isSafeName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

interface Offer {
  readonly name: string;
  readonly source: string;
  readonly description?: string;
  readonly version?: string;
}

/** A plugin that is named by its directory. Throws what is wrong with it. */
export function directPlugin(directory: string, given: string): FoundPlugin {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`Local plugin path does not exist: ${given}`);
  const { name, version } = manifestOf(directory);
  if (name === undefined) throw new Error(`There is no plugin.json with a name in ${given}`);
  const directSourceId = createHash('sha256').update(directory).digest('hex').slice(0, 12);
  return {
    name,
    marketplace: '',
    directSourceId,
    source: directory,
    ...(version !== undefined && { version }),
  };
}

/** The manifest of a plugin's directory; empty where it has none. */
export function manifestOf(directory: string): Manifest {
  const path = [join(directory, 'plugin.json'), join(directory, '.claude-plugin', 'plugin.json')].find(
    existsSync,
  );
  if (path === undefined) return {};
  const { name, version } = JSON.parse(settingsText(path) ?? '{}') as Readonly<Record<string, unknown>>;
  return { ...(typeof name === 'string' && { name }), ...(typeof version === 'string' && { version }) };
}

/** What a marketplace offers. Throws what is wrong with it. */
export function readMarketplace(directory: string): {
  readonly name: string;
  readonly plugins: readonly Offer[];
} {
  const places = ['marketplace.json', '.github/plugin/marketplace.json', '.claude-plugin/marketplace.json'];
  const path = places.map((place) => join(directory, place)).find((place) => existsSync(place));
  if (path === undefined) throw new Error(`There is no marketplace.json in ${directory}`);
  const { name, plugins } = JSON.parse(settingsText(path) ?? '{}') as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || !isSafeName(name))
    throw new Error(`${path}: 'name' is missing or not allowed`);
  return { name, plugins: Array.isArray(plugins) ? plugins.filter(isOffer) : [] };
}

function isOffer(value: unknown): value is Offer {
  const { name, source } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && typeof source === 'string';
}

/** Directories in which the skills of a plugin are found. */
export function skillDirectoriesOf(directory: string): readonly string[] {
  const nested = join(directory, 'skills');
  return [
    ...(existsSync(nested) ? [nested] : []),
    ...(existsSync(join(directory, 'SKILL.md')) ? [directory] : []),
  ];
}

/** How many skills a plugin has. */
export function skillsIn(directory: string): number {
  const nested = join(directory, 'skills');
  const below = existsSync(nested) ? readdirSync(nested).map((name) => join(nested, name)) : [];
  return [directory, ...below].filter((each) => existsSync(join(each, 'SKILL.md'))).length;
}

/** A link, which may lead anywhere. */
export function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}
