import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '@groundcrew/runtime';
import type { Client } from './client.js';
import { Refusal } from './failure.js';

/** How long a client may take to read a file. */
const patience = 30_000;

/**
 * A session that this home does not have may be in the storage of the client that resumes it: its events are read from
 * there, and it goes on from them. False when they are not there either. Throws Refusal for events that cannot be taken.
 */
export async function importHosted(
  sessionId: string,
  { client, runtime }: { readonly client: Client; readonly runtime: Runtime },
): Promise<boolean> {
  if (!client.hosting) return false;
  const { statePath, separator } = client.hosting;
  const path = [statePath.replace(/[/\\]$/, ''), 'events.jsonl'].join(separator);
  const { content, error } = await client.ask(
    'sessionFs.readFile',
    { sessionId, path },
    AbortSignal.timeout(patience),
  );
  if (error?.code === 'ENOENT' || (!error && !content)) return false;
  if (error) throw new Refusal(`The events of the session cannot be read: ${error.message ?? error.code}`);
  const directory = await mkdtemp(join(tmpdir(), 'groundcrew-hosted-'));
  try {
    const file = join(directory, 'hosted-events.jsonl');
    await writeFile(file, content, { mode: 0o600 });
    await runtime.stored.importFrom({ path: file, sessionId });
    return true;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
