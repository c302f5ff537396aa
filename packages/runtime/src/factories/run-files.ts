import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A line that a factory's body wrote of its progress. */
export interface ProgressLine {
  readonly seq: number;
  readonly attempt: number;
  readonly recordedAt: number;
  readonly kind: string;
  readonly text: string;
}

/** One run of a factory, as its file keeps it. */
export interface FactoryRun {
  readonly runId: string;
  readonly factoryName: string;
  readonly description: string;
  readonly args: unknown;
  readonly status: 'running' | 'completed' | 'halted' | 'paused' | 'cancelled' | 'error';
  /** Clients of its time call it a workflow. */
  readonly isWorkflow?: boolean;
  /** The phases that its client said it has. */
  readonly phases?: readonly DeclaredPhase[];
  /** Who paused it, or where it paused itself. */
  readonly pause?: { readonly type: 'user' } | { readonly type: 'checkpoint'; readonly key: string };
  /** Milliseconds that earlier attempts took. */
  readonly workedMs?: number;
  /** The sub-agents that worked for it. */
  readonly spawned?: readonly SpawnedAgent[];
  readonly result?: unknown;
  readonly error?: string;
  readonly attempt: number;
  readonly revision: number;
  readonly createdAt: number;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly agents: number;
  readonly limits: FactoryLimits;
  /** Steps that were done, by their keys: a run that goes on does not repeat them. */
  readonly journal: Readonly<Record<string, unknown>>;
  readonly progress: readonly ProgressLine[];
}

/** A phase of a run, as its client announced it. */
export interface DeclaredPhase {
  readonly title: string;
  readonly detail?: string;
}

/** A sub-agent of a run, and the phase it was begun in. */
export interface SpawnedAgent {
  readonly agentId: string;
  readonly label: string;
  readonly phase?: string;
  readonly model?: string;
}

/** What a run may take. */
export interface FactoryLimits {
  readonly timeoutSeconds?: number;
  readonly maxTotalSubagents?: number;
  readonly maxConcurrentSubagents?: number;
}

/** The files of a session's factory runs: each is whole on the disk when its write has resolved. */
export class RunFiles {
  constructor(private readonly directory: string) {}

  async read(runId: string): Promise<FactoryRun | undefined> {
    if (!/^[\w-]{1,64}$/.test(runId)) return undefined;
    try {
      return JSON.parse(await readFile(this.pathOf(runId), 'utf8')) as FactoryRun;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async all(): Promise<readonly FactoryRun[]> {
    const names = await readdir(this.directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const ids = names.flatMap((name) => /^([\w-]+)\.json$/.exec(name)?.[1] ?? []);
    const runs = await Promise.all(ids.map((id) => this.read(id)));
    return runs.flatMap((run) => run ?? []).sort((a, b) => a.createdAt - b.createdAt);
  }

  async write(run: FactoryRun): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const draft = `${this.pathOf(run.runId)}.tmp`;
    try {
      const file = await open(draft, 'w', 0o600);
      try {
        await file.writeFile(JSON.stringify(run));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, this.pathOf(run.runId));
      await syncNames(this.directory);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  private pathOf(runId: string): string {
    return join(this.directory, `${runId}.json`);
  }
}

async function syncNames(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** How long all attempts of a run took together. */
export function workedMs(
  { workedMs: before = 0, startedAt, completedAt, status }: FactoryRun,
  now: number,
): number {
  const end = completedAt ?? (status === 'running' ? now : startedAt);
  return before + Math.max(0, end - startedAt);
}
