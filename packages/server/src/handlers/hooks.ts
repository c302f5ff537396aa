import { createHash } from 'node:crypto';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Methods } from '@groundcrew/protocol';
import type { FoundHooks } from '../environment.js';
import type { Handlers } from '../handler.js';
import { namedDirectories } from '../named-directories.js';

const notAlways =
  'Hooks of files run in sessions that enable them; GROUNDCREW_FILE_HOOKS=1 enables them for every session.';

export const hooksHandlers: Handlers<Pick<Methods, 'hooks.discover'>> = {
  async 'hooks.discover'({ projectPaths = [], excludeHostHooks = false }, { environment }) {
    const { hookFiles, workingDirectory } = environment;
    if (!hookFiles) return { hooks: [], warnings: [], errors: [] };
    const enabled = hookFiles.isAlwaysOn;
    const own =
      excludeHostHooks || projectPaths.length > 0 ? [] : [{ found: hookFiles.ofUser(workingDirectory) }];
    const rows = [...own.map(({ found }) => rowsOf(found, { origin: 'user', enabled }))];
    const errors = own.flatMap(({ found }) => found.problems);
    for (const projectPath of namedDirectories(projectPaths, workingDirectory)) {
      const user = excludeHostHooks ? undefined : hookFiles.ofUser(projectPath);
      const project = hookFiles.ofProject(projectPath);
      if (user) rows.push(rowsOf(user, { origin: 'user', enabled, projectPath }));
      rows.push(rowsOf(project, { origin: 'repository', enabled, projectPath }));
      errors.push(...(user?.problems ?? []), ...project.problems.map((each) => `${projectPath}: ${each}`));
      await othersTurn();
    }
    const hooks = withIds(rows.flat());
    return { hooks, warnings: hooks.length > 0 && !enabled ? [notAlways] : [], errors: [...new Set(errors)] };
  },
};

interface Row {
  readonly hookType: string;
  readonly origin: 'user' | 'repository';
  readonly source: string;
  readonly projectPath?: string;
  readonly enabled: boolean;
  readonly content: string;
}

function rowsOf(
  { hooks }: FoundHooks,
  facts: Pick<Row, 'origin' | 'enabled' | 'projectPath'>,
): readonly Row[] {
  return hooks.map(({ hookType, source, content }) => ({ hookType, source, content, ...facts }));
}

/** The same hook has the same id as long as it stands where it stands; its line does not count. */
function withIds(rows: readonly Row[]) {
  const count = new Map<string, number>();
  return rows.map(({ content, ...row }) => {
    const path = row.source.replace(/:\d+$/, '');
    const key = JSON.stringify([row.projectPath, row.origin, path, row.hookType, content]);
    const ordinal = count.get(key) ?? 0;
    count.set(key, ordinal + 1);
    const id = createHash('sha256').update(`${key}#${ordinal}`).digest('base64url').slice(0, 22);
    return { id, ...row };
  });
}
