import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { InstalledPlugin, Plugins } from '@groundcrew/server';
import { writeWholeFile } from '@groundcrew/store';
import { withFileLock } from '@groundcrew/store-sqlite';
import {
  directPlugin,
  type FoundPlugin,
  isLink,
  isSafeName,
  manifestOf,
  readMarketplace,
  skillDirectoriesOf,
  skillsIn,
} from './plugin-folder.js';
import { settingsText } from './settings-text.js';

/** A plugin as the home's file keeps it. */
interface Kept extends FoundPlugin {
  readonly enabled: boolean;
}

interface Contents {
  readonly marketplaces: readonly { readonly name: string; readonly source: string }[];
  readonly plugins: readonly Kept[];
}

/** A marketplace of the home itself: plugins that its user puts there. */
const ownMarketplace = 'local';

/** The plugins of a home: copies of directories, and a file that says which are enabled. */
export class HomePlugins implements Plugins {
  private readonly path: string;
  private readonly root: string;

  constructor(private readonly homeDirectory: string) {
    this.path = join(homeDirectory, 'plugins.json');
    this.root = join(homeDirectory, 'installed-plugins');
  }

  async list() {
    return this.read().plugins.map(shown);
  }

  async installed(): Promise<readonly InstalledPlugin[]> {
    return this.read().plugins.map((kept) => ({ plugin: shown(kept), directory: this.directoryOf(kept) }));
  }

  async enabled() {
    const plugins = this.read()
      .plugins.filter(({ enabled }) => enabled)
      .map((kept) => this.directoryOf(kept));
    return { plugins, skills: plugins.flatMap(skillDirectoriesOf) };
  }

  async install(source: string, workingDirectory: string) {
    const named = /^([^@/\\]+)@([^@/\\]+)$/.exec(source);
    const found = named
      ? this.offered(named[1] ?? '', named[2] ?? '')
      : directPlugin(resolve(workingDirectory, source), source);
    const kept = await this.take({ ...found, enabled: true });
    return {
      plugin: shown(kept),
      skillsInstalled: skillsIn(this.directoryOf(kept)),
      ...(!named && { deprecationWarning: direct }),
    };
  }

  async uninstall(name: string, directSourceId: string | undefined): Promise<void> {
    const kept = this.require(name, directSourceId);
    await this.change(({ plugins, ...rest }) => ({
      ...rest,
      plugins: plugins.filter((each) => keyOf(each) !== keyOf(kept)),
    }));
    await rm(this.directoryOf(kept), { recursive: true, force: true });
  }

  async update(name: string) {
    const before = this.require(name, undefined);
    const found =
      before.marketplace === ''
        ? directPlugin(before.source, before.source)
        : this.offered(before.name, before.marketplace);
    const after = await this.take({ ...found, enabled: before.enabled });
    return {
      skillsInstalled: skillsIn(this.directoryOf(after)),
      ...(before.version !== undefined && { previousVersion: before.version }),
      ...(after.version !== undefined && { newVersion: after.version }),
    };
  }

  async updateAll() {
    const results = [];
    for (const { name, marketplace } of this.read().plugins) {
      const id = { name, marketplace };
      try {
        results.push({
          ...id,
          success: true,
          ...(await this.update(marketplace ? `${name}@${marketplace}` : name)),
        });
      } catch (error) {
        results.push({ ...id, success: false, error: messageOf(error) });
      }
    }
    return results;
  }

  /** A name that is not installed changes nothing. */
  async switch(names: readonly string[], enabled: boolean): Promise<void> {
    await this.change(({ plugins, ...rest }) => ({
      ...rest,
      plugins: plugins.map((kept) =>
        names.some((name) => isCalled(kept, name)) ? { ...kept, enabled } : kept,
      ),
    }));
  }

  async marketplaces() {
    const own = { name: ownMarketplace, source: this.sourceOf(ownMarketplace) ?? '', isDefault: true };
    return [own, ...this.read().marketplaces.map(({ name, source }) => ({ name, source }))];
  }

  async addMarketplace(source: string, workingDirectory: string): Promise<string> {
    const directory = resolve(workingDirectory, source);
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`Marketplaces are directories in this version, and this is none: ${source}`);
    const { name } = readMarketplace(directory);
    if (name === ownMarketplace) throw new Error(`A marketplace named "${name}" is there already`);
    await this.change(({ marketplaces, ...rest }) => ({
      ...rest,
      marketplaces: [...marketplaces.filter((each) => each.name !== name), { name, source: directory }],
    }));
    return name;
  }

  async removeMarketplace(name: string, { force }: { readonly force: boolean }) {
    const { marketplaces, plugins } = this.read();
    if (!marketplaces.some((each) => each.name === name))
      throw new Error(`Marketplace "${name}" is not registered`);
    const dependent = plugins.filter((kept) => kept.marketplace === name);
    if (dependent.length > 0 && !force)
      return { removed: false, dependentPlugins: dependent.map((kept) => kept.name) };
    for (const kept of dependent) await this.uninstall(`${kept.name}@${name}`, undefined);
    await this.change((before) => ({
      ...before,
      marketplaces: before.marketplaces.filter((each) => each.name !== name),
    }));
    return { removed: true };
  }

  async browse(name: string) {
    return this.catalogOf(name).plugins.map(({ name: plugin, description }) => ({
      name: plugin,
      ...(description !== undefined && { description }),
    }));
  }

  /** Marketplaces are read at each use; this says which of them can be. */
  async refresh(name: string | undefined) {
    const names = name === undefined ? this.read().marketplaces.map((each) => each.name) : [name];
    return names.map((each) => {
      try {
        this.catalogOf(each);
        return { name: each, success: true };
      } catch (error) {
        return { name: each, success: false, error: messageOf(error) };
      }
    });
  }

  private offered(name: string, marketplace: string): FoundPlugin {
    const catalog = this.catalogOf(marketplace);
    const entry = catalog.plugins.find((each) => each.name === name);
    if (!entry) throw new Error(`Plugin "${name}" not found in marketplace "${marketplace}"`);
    const source = resolve(catalog.directory, entry.source);
    if (source !== catalog.directory && !source.startsWith(catalog.directory + sep))
      throw new Error(`Plugin "${name}" lies outside of its marketplace`);
    const version = entry.version ?? manifestOf(source).version;
    return { name, marketplace, source, ...(version !== undefined && { version }) };
  }

  private catalogOf(name: string) {
    const directory = this.sourceOf(name);
    if (directory === undefined) throw new Error(`Marketplace "${name}" not found`);
    if (name === ownMarketplace && !existsSync(directory)) return { name, directory, plugins: [] };
    return { ...readMarketplace(directory), directory };
  }

  private sourceOf(name: string): string | undefined {
    if (name === ownMarketplace) return join(this.homeDirectory, 'marketplace');
    return this.read().marketplaces.find((each) => each.name === name)?.source;
  }

  /** Copies it to a place beside, and puts that where the one before was. */
  private async take(kept: Kept): Promise<Kept> {
    if (!isSafeName(kept.name)) throw new Error(`A plugin cannot be named "${kept.name}"`);
    if (!statSync(kept.source, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`Local plugin path does not exist: ${kept.source}`);
    const target = this.directoryOf(kept);
    const draft = `${target}.new`;
    await rm(draft, { recursive: true, force: true });
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    // Links could lead out of the plugin to whatever the user can read.
    await cp(kept.source, draft, { recursive: true, filter: (path) => !isLink(path) });
    await rm(target, { recursive: true, force: true });
    renameSync(draft, target);
    await this.change(({ plugins, ...rest }) => ({
      ...rest,
      plugins: [...plugins.filter((each) => keyOf(each) !== keyOf(kept)), kept],
    }));
    return kept;
  }

  private require(name: string, directSourceId: string | undefined): Kept {
    const kept = this.read().plugins.find(
      (each) =>
        isCalled(each, name) && (directSourceId === undefined || each.directSourceId === directSourceId),
    );
    if (!kept) throw new Error(`Plugin "${name}" is not installed`);
    return kept;
  }

  private directoryOf({ name, marketplace, directSourceId = '' }: Kept): string {
    return join(
      this.root,
      marketplace === '' ? '_direct' : marketplace,
      `${name}${directSourceId && `-${directSourceId}`}`,
    );
  }

  private read(): Contents {
    const { marketplaces = [], plugins = [] } = JSON.parse(
      settingsText(this.path) ?? '{}',
    ) as Partial<Contents>;
    return { marketplaces, plugins };
  }

  private async change(change: (before: Contents) => Contents): Promise<void> {
    const guard = join(this.homeDirectory, 'run', 'plugins.guard');
    mkdirSync(dirname(guard), { recursive: true, mode: 0o700 });
    await withFileLock(guard, () => {
      writeWholeFile(this.path, `${JSON.stringify(change(this.read()), undefined, 2)}\n`);
    });
  }
}

const direct =
  'Installing a plugin directly from a directory is deprecated: put it into a marketplace and install it by name@marketplace.';

function shown({ name, marketplace, directSourceId, version, enabled }: Kept) {
  return {
    name,
    marketplace,
    enabled,
    ...(directSourceId !== undefined && { directSourceId }),
    ...(version !== undefined && { version }),
  };
}

function keyOf({ name, marketplace, directSourceId = '' }: Kept): string {
  return `${name}@${marketplace}#${directSourceId}`;
}

function isCalled({ name, marketplace }: Kept, given: string): boolean {
  return given === name || given === `${name}@${marketplace}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
