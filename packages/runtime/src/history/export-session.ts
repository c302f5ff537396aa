import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SessionStore } from '@groundcrew/store';
import { isRemoved } from '../log/removed-records.js';
import { replay } from '../log/replay.js';
import { agentOf, type SessionState } from '../log/state.js';
import { absent } from '../workspace/absent.js';
import { makeDirectories } from '../workspace/make-directories.js';
import { stateFile, writeExportedState } from './exported-state.js';

/** Where a session is written to: a directory of its id is made there. */
export interface ExportRequest {
  readonly sessionId: string;
  readonly path: string;
  /** Copies the files of the session's own directory into another one. */
  copyFiles(to: string): Promise<void>;
}

/** What was written. */
export interface ExportedSession {
  readonly directory: string;
  readonly events: number;
}

/** A session cannot be written there. */
class CannotExport extends Error {
  override readonly name = 'CannotExport';
}

/**
 * Writes what readers see of a session as other tools keep it: `events.jsonl` and `workspace.yaml` in a directory of its
 * own; and what the events add up to, for an import here. The directory has its name once all of it is there.
 */
export async function exportLog(
  store: SessionStore,
  { sessionId, path, copyFiles }: ExportRequest,
): Promise<ExportedSession> {
  // The client may have another working directory than the runtime, so a relative path could mean another place.
  if (!isAbsolute(path)) throw new CannotExport(`path must be absolute, not ${path}`);
  const { items } = await store.list({ sessionId, includeEmpty: true });
  const [source] = items;
  if (!source) throw new CannotExport(`There is no session ${sessionId}`);
  const { removed = [], snapshotSeq } = source.head;
  const { state, damage } = await replay({ store, sessionId, snapshotSeq });
  if (damage) throw damage;
  const directory = join(resolve(path), sessionId);
  if (await lstat(directory).catch(absent)) throw new CannotExport(`${directory} is there already`);
  await makeDirectories(resolve(path)).catch((error: NodeJS.ErrnoException) => {
    throw new CannotExport(`${resolve(path)} cannot be made: ${error.message}`);
  });
  const draft = join(resolve(path), `.${sessionId}.${randomUUID()}.tmp`);
  await mkdir(draft, { mode: 0o700 });
  let events = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const batch of store.read(sessionId)) {
      const seen = batch.filter(
        ({ seq, isPublic }) => isPublic && seq <= state.seq && !isRemoved(removed, seq),
      );
      events += seen.length;
      yield seen.map(({ json }) => `${json}\n`).join('');
    }
  }
  try {
    const to = createWriteStream(join(draft, 'events.jsonl'), newPrivateFile);
    await pipeline(Readable.from(lines()), to);
    await writeFile(join(draft, 'workspace.yaml'), await workspaceText(sessionId, state), newPrivateFile);
    await writeFile(join(draft, stateFile), writeExportedState(state), newPrivateFile);
    await copyFiles(draft);
    await rename(draft, directory);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return { directory, events };
}

/** For streams (`flags`) and for `writeFile` (`flag`). */
const newPrivateFile = { flags: 'wx', flag: 'wx', mode: 0o600 };

async function workspaceText(sessionId: string, state: SessionState): Promise<string> {
  const { stringify } = await import('yaml');
  const { name, isNamedByUser = false, clientName } = state.fixed;
  const { cwd, gitRoot, repository, branch } = state.context;
  return stringify({
    id: sessionId,
    cwd,
    ...(gitRoot !== undefined && { git_root: gitRoot }),
    ...(repository !== undefined && { repository }),
    ...(branch !== undefined && { branch }),
    ...(clientName !== undefined && { client_name: clientName }),
    name: name ?? state.summary ?? sessionId,
    user_named: isNamedByUser,
    summary_count: agentOf(state).compaction?.count ?? 0,
    created_at: state.createdAt,
    updated_at: state.modifiedAt,
  });
}
