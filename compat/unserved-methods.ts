import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { methods } from '@groundcrew/protocol';
import type { Registry } from './client.js';
import { npmClient } from './npm-clients.js';
import { pypiClient } from './pypi-clients.js';

/** Methods that a client can call; an internal one is no part of what apps may use. */
type Calls = ReadonlyMap<string, { readonly isInternal: boolean }>;

/**
 * For every published client, how many methods it can call and how many of them the runtime does not serve, public and
 * internal ones apart; named are the public ones that the release before it did not call. The newest release of all names
 * its internal ones, too.
 */
export function unservedMethods(
  registries: readonly { readonly registry: Registry; readonly versions: readonly string[] }[],
  cache: string,
): string {
  const rows: string[] = [];
  let newest: Calls = new Map();
  for (const { registry, versions } of registries) {
    let before: readonly string[] = [];
    for (const version of versions) {
      newest = readers[registry](version, cache);
      const [open, internal] = [unserved(newest, false), unserved(newest, true)];
      const added = grouped(open.filter((name) => !before.includes(name)));
      rows.push(
        `| ${registry} ${version} | ${newest.size} | ${open.length} | ${internal.length} | ${added.join(' ')} |`,
      );
      before = open;
    }
  }
  const head =
    '| client | methods called | public, not served | internal, not served | public ones that the release before did not call |';
  const last = registries.at(-1);
  return [
    head,
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    `The internal ones of ${last?.registry} ${last?.versions.at(-1)}: ${grouped(unserved(newest, true)).join(' ')}`,
  ].join('\n');
}

/** How each registry's packages show what they call. */
const readers: Readonly<Record<Registry, (version: string, cache: string) => Calls>> = {
  npm(version, cache) {
    npmClient(version, cache);
    const directory = join(cache, 'npm', version, 'node_modules/@github/copilot-sdk/dist');
    return callsIn(directory, {
      isCode: (file) => /\.js$/.test(file) && !file.startsWith('cjs'),
      mark: /function create(?<internal>Internal)?\w*Rpc\(|sendRequest\(\s*"(?<method>[\w.]+)"/g,
    });
  },
  pypi(version, cache) {
    pypiClient(version, cache);
    return callsIn(join(cache, 'pypi', version, 'copilot'), {
      isCode: (file) => file.endsWith('.py'),
      mark: /^class (?<internal>_Internal)?|\brequest\(\s*["'](?<method>[\w.]+)["']/gm,
    });
  },
};

/** What stands below a mark of internal methods is internal, up to the next mark. */
function callsIn(
  directory: string,
  { isCode, mark }: { readonly isCode: (file: string) => boolean; readonly mark: RegExp },
): Calls {
  const calls = new Map<string, { isInternal: boolean }>();
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(isCode);
  for (const file of files) {
    let isInternal = false;
    for (const { groups = {} } of readFileSync(join(directory, file), 'utf8').matchAll(mark)) {
      const { method, internal } = groups;
      if (method === undefined) isInternal = internal !== undefined;
      else calls.set(method, { isInternal: isInternal && (calls.get(method)?.isInternal ?? true) });
    }
  }
  return calls;
}

function unserved(calls: Calls, isInternal: boolean): readonly string[] {
  return [...calls]
    .filter(([method, call]) => call.isInternal === isInternal && !isServed(method))
    .map(([method]) => method)
    .sort();
}

/** Methods of one namespace share its name. */
function grouped(names: readonly string[]): readonly string[] {
  const spaceOf = (name: string) => name.slice(0, name.lastIndexOf('.') + 1);
  const spaces = [...new Set(names.map(spaceOf))];
  return spaces.map((space) => {
    const members = names.filter((name) => spaceOf(name) === space).map((name) => name.slice(space.length));
    return members.length === 1 ? `\`${space}${members[0]}\`` : `\`${space}{${members.join(', ')}}\``;
  });
}

/** Under the name of then, too. */
function isServed(method: string): boolean {
  const now = method
    .replace(/^session\.workspace\./, 'session.workspaces.')
    .replace(/^session\.auth\./, 'session.gitHubAuth.')
    .replace(/^session\.compaction\./, 'session.history.')
    .replace(/^session\.canvas\.invokeAction$/, 'session.canvas.action.invoke');
  return Object.hasOwn(methods, now);
}
