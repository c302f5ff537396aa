import type { LogRecord, SessionStore } from '@groundcrew/store';
import type { Compactor } from '../compaction/compactor.js';
import { type Cut, cutAt, stateAfterCut } from '../log/cut.js';
import { hasTurnWork } from '../log/fold.js';
import type { SessionLog } from '../log/session-log.js';
import { agentOf, type SessionState } from '../log/state.js';
import type { FileSync } from '../workspace/file-sync.js';
import { putBack } from '../workspace/restored-file.js';
import type { Workspace } from '../workspace/workspace.js';
import type { FileTracking } from './file-tracking.js';
import { describePlanned, type PlannedFile, planRewind, type RewindFile } from './rewind-plan.js';
import { CannotRewind, promptCut, type RewindPoint, rewindPoints } from './rewind-points.js';

/** The session whose past is cut. */
interface RewoundSession {
  readonly sessionId: string;
  readonly workspace: Workspace;
  readonly files: FileTracking;
  /** Keeps files that a client stores the same as those on this disk. */
  readonly hosting: Pick<FileSync, 'pull' | 'push'>;
  readonly isRunning: boolean;
  load(): Promise<{ readonly log: SessionLog; readonly compactor: Compactor }>;
  state(): Promise<SessionState>;
  read(after?: number): AsyncIterable<readonly LogRecord[]>;
}

/** Why a session cannot be rewound now. */
export type RewindObstacle = 'file-change-tracking-disabled' | 'session-busy';

/** What came of a rewind. */
export interface RewindOutcome {
  readonly outcome:
    | 'success'
    | RewindObstacle
    | 'files-rolled-back'
    | 'rollback-incomplete'
    | 'snapshot-prune-failed';
  readonly eventsRemoved?: number;
  readonly restoredFiles: readonly string[];
  readonly skippedFiles: readonly { readonly path: string; readonly reason: SkipReason }[];
  readonly error?: string;
}

type SkipReason = 'user-modified' | 'skipped-capture';

/** Takes a session back to an earlier point: its conversation, and the files that its tools wrote. */
export class SessionRewind {
  constructor(
    private readonly session: RewoundSession,
    private readonly store: SessionStore,
  ) {}

  /** Cuts the event off with all that followed. Throws CannotRewind. */
  async truncate(
    eventId: string,
  ): Promise<{ readonly eventsRemoved: number; readonly cleanupError?: string }> {
    const cut = await this.cut(eventId, { restoresFiles: false });
    if (cut === 'busy') throw new CannotRewind('The session is working: wait until it is idle, or abort it');
    if (!cut) throw new CannotRewind(`Event ${eventId} not found in session`);
    const cleanupError = await this.dropCheckpoints();
    return { eventsRemoved: cut.eventsRemoved, ...(cleanupError !== undefined && { cleanupError }) };
  }

  /** The prompts of the session, the oldest first. */
  async points(): Promise<{
    readonly isTracking: boolean;
    readonly obstacle?: RewindObstacle;
    readonly points: readonly RewindPoint[];
  }> {
    const state = await this.session.state();
    const isTracking = this.session.files.isOn(state);
    if (this.isBusy(state)) return { isTracking, obstacle: 'session-busy', points: [] };
    return { isTracking, points: await rewindPoints(this.session.read(), { state, isTracking }) };
  }

  /** What would become of files; nothing is changed. Throws CannotRewind. */
  async preview(eventId: string): Promise<RewindObstacle | readonly RewindFile[]> {
    const state = await this.session.state();
    const cut = await promptCut(this.records(), eventId, state.removed);
    if (!this.session.files.isOn(state)) return 'file-change-tracking-disabled';
    if (this.isBusy(state)) return 'session-busy';
    return describePlanned(await this.plan(state, cut.before));
  }

  /**
   * Puts files back, then cuts the conversation. A process that dies in between has put some files back and cut
   * nothing: the same rewind finishes it. Files that others changed since stay as they are unless `force`.
   */
  async rewind(
    eventId: string,
    { withFiles, force = false }: { readonly withFiles: boolean; readonly force?: boolean },
  ): Promise<RewindOutcome> {
    const state = await this.session.state();
    const { before } = await promptCut(this.records(), eventId, state.removed);
    const nothing = { restoredFiles: [], skippedFiles: [] };
    if (withFiles && !this.session.files.isOn(state))
      return { outcome: 'file-change-tracking-disabled', ...nothing };
    if (this.isBusy(state)) return { outcome: 'session-busy', ...nothing };
    const { hosting } = this.session;
    const planned = withFiles ? await this.plan(state, before) : [];
    const restored = await restore(planned, { force, hosting });
    if (restored.outcome !== 'success') return restored;
    const cut = await this.cut(eventId, { restoresFiles: withFiles });
    if (cut === 'busy' || !cut)
      return { ...nothing, ...(await undo(planned, restored, hosting)), outcome: 'session-busy' };
    await this.dropCheckpoints();
    const done = { ...restored, eventsRemoved: cut.eventsRemoved };
    return withFiles ? this.pruned(done) : done;
  }

  /** What a client stores is looked at as it is there now. */
  private async plan(now: SessionState, before: SessionState): Promise<readonly PlannedFile[]> {
    const { hosting, files } = this.session;
    for (const real of new Set(now.fileChanges.map((change) => change.real))) await hosting.pull(real);
    return planRewind({ now, before }, files.snapshots);
  }

  private async pruned(done: RewindOutcome): Promise<RewindOutcome> {
    const { fileChanges } = await this.session.state();
    const needed = fileChanges.flatMap(({ before }) => (before.type === 'kept' ? [before.digest] : []));
    return this.session.files.snapshots.prune(new Set(needed)).then(
      () => done,
      (error: unknown) => ({ ...done, outcome: 'snapshot-prune-failed', error: textOf(error) }),
    );
  }

  /** One record; what was appended while the past was read is looked at again. */
  private async cut(
    eventId: string,
    how: { readonly restoresFiles: boolean },
  ): Promise<Cut | 'busy' | undefined> {
    const { log, compactor } = await this.session.load();
    for (;;) {
      if (this.isBusy(log.latest)) return 'busy';
      await compactor.close();
      await log.stored();
      const { seq, removed } = log.state;
      const cut = await cutAt(this.records(), eventId, removed);
      if (!cut) return undefined;
      if (this.isBusy(log.latest)) return 'busy';
      if (log.latest.seq !== seq) continue;
      const { eventsRemoved } = cut;
      const state = stateAfterCut(log.latest, cut, how);
      log.append(
        { note: 'history.truncated', data: { upToEventId: eventId, eventsRemoved, state } },
        { type: 'session.snapshot_rewind', data: { upToEventId: eventId, eventsRemoved } },
      );
      await log.published();
      return cut;
    }
  }

  /** Checkpoints of compactions that are cut off go; they are only copies, so a failure is no more than that. */
  private async dropCheckpoints(): Promise<string | undefined> {
    const { compaction } = agentOf(await this.session.state());
    return this.session.workspace.checkpoints.dropAfter(compaction?.count ?? 0).then(() => undefined, textOf);
  }

  private isBusy(state: SessionState): boolean {
    return this.session.isRunning || hasTurnWork(state);
  }

  private records(): AsyncIterable<readonly LogRecord[]> {
    return this.store.read(this.session.sessionId);
  }
}

type Hosting = RewoundSession['hosting'];

/** Restores all files or none: after a failure, those that were restored before it are written back. */
async function restore(
  planned: readonly PlannedFile[],
  { force, hosting }: { readonly force: boolean; readonly hosting: Hosting },
): Promise<RewindOutcome> {
  const restoredFiles: string[] = [];
  const skippedFiles: { path: string; reason: SkipReason }[] = [];
  const done: PlannedFile[] = [];
  for (const file of planned) {
    const { path, real, wanted, now } = file;
    const reason = reasonToSkip(file, force);
    if (reason) skippedFiles.push({ path, reason });
    if (reason || !wanted) continue;
    try {
      if (!file.isDone) await putBack(real, wanted, now);
      done.push(file);
      await hosting.push(real);
      restoredFiles.push(path);
    } catch (error) {
      const isUndone = await takeBack(done, hosting);
      const outcome = isUndone ? 'files-rolled-back' : 'rollback-incomplete';
      return { outcome, restoredFiles: [], skippedFiles, error: `${path}: ${textOf(error)}` };
    }
  }
  return { outcome: 'success', restoredFiles, skippedFiles };
}

function reasonToSkip({ wanted, now, isChangedSince }: PlannedFile, force: boolean): SkipReason | undefined {
  if (!wanted) return 'skipped-capture';
  if (now.type === 'other') return 'user-modified';
  return isChangedSince && !force ? 'user-modified' : undefined;
}

/** Writes restored files back: the session began to work again meanwhile, so nothing is cut. */
async function undo(planned: readonly PlannedFile[], { restoredFiles }: RewindOutcome, hosting: Hosting) {
  const restored = planned.filter(({ path }) => restoredFiles.includes(path));
  await takeBack(restored, hosting);
  return { restoredFiles: [] };
}

async function takeBack(files: readonly PlannedFile[], hosting: Hosting): Promise<boolean> {
  const results = await Promise.allSettled(
    files.map(async ({ real, now, wanted, isDone }) => {
      if (isDone || !wanted || now.type === 'other') return;
      await putBack(real, now, wanted.type === 'file' ? { ...wanted, ...ownerOf(now) } : wanted);
      await hosting.push(real);
    }),
  );
  return results.every(({ status }) => status === 'fulfilled');
}

function ownerOf(now: PlannedFile['now']) {
  if (now.type === 'file') return { uid: now.uid, gid: now.gid };
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
