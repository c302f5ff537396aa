import { relative } from 'node:path';
import type { SessionState } from '../log/state.js';
import { initialState } from '../log/state.js';
import { changeDiff } from '../tools/diff.js';
import type { FileTracking } from './file-tracking.js';
import type { ChangedFile } from './git-diff.js';
import { type PlannedFile, planRewind } from './rewind-plan.js';
import type { RewindObstacle } from './session-rewind.js';

/** What files are compared with: the last commit, the start of the branch, or the start of the session. */
export type DiffMode = 'unstaged' | 'branch' | 'session';

/** What is different in the place where a session works. */
export interface WorkingDiff {
  readonly requestedMode: DiffMode;
  readonly mode: DiffMode;
  readonly changes: readonly ChangedFile[];
  readonly baseBranch?: string;
  /** The requested mode is not available: these are the changes of another mode. */
  readonly isFallback: boolean;
  readonly unavailableReason?: RewindObstacle;
}

interface DiffedSession {
  readonly files: FileTracking;
  readonly isRunning: boolean;
  state(): Promise<SessionState>;
}

/** Compares files with the last commit, with where the branch began, or with what they were before the session's tools. */
export class SessionDiff {
  constructor(private readonly session: DiffedSession) {}

  async read(
    requestedMode: DiffMode,
    { ignoresSpace }: { readonly ignoresSpace: boolean },
    signal: AbortSignal,
  ): Promise<WorkingDiff> {
    const state = await this.session.state();
    const obstacle = requestedMode === 'session' ? this.obstacle(state) : undefined;
    if (requestedMode === 'session' && !obstacle)
      return { requestedMode, mode: 'session', changes: await this.ofSession(state), isFallback: false };
    const { diffTree } = await import('./git-diff.js');
    const fromBranch = requestedMode === 'branch';
    const tree = await diffTree(state.context.cwd, { fromBranch, ignoresSpace }, signal);
    const mode = fromBranch && !tree.isFallback ? 'branch' : 'unstaged';
    const isFallback = tree.isFallback || obstacle !== undefined;
    return { requestedMode, mode, ...tree, isFallback, ...(obstacle && { unavailableReason: obstacle }) };
  }

  private obstacle(state: SessionState): RewindObstacle | undefined {
    if (!this.session.files.isOn(state)) return 'file-change-tracking-disabled';
    return this.session.isRunning ? 'session-busy' : undefined;
  }

  private async ofSession(now: SessionState): Promise<readonly ChangedFile[]> {
    const planned = await planRewind({ now, before: initialState }, this.session.files.snapshots);
    const changed = planned.filter(({ isDone, wanted }) => !isDone && wanted !== undefined);
    return Promise.all(changed.map((file) => changeOf(file, now.context.cwd)));
  }
}

async function changeOf({ path, now, wanted }: PlannedFile, cwd: string): Promise<ChangedFile> {
  const name = relative(cwd, path);
  const before = wanted?.type === 'file' ? wanted.content : Buffer.alloc(0);
  const after = now.type === 'file' ? now.content : Buffer.alloc(0);
  const text = await changeDiff({ path: `/${name}`, before, after });
  const shown = text
    .trim()
    .replace(/^index .*\n/m, '')
    .replace(/^@@ -1,0 /m, '@@ -0,0 ')
    .replace(/ \+1,0 @@$/m, ' +0,0 @@')
    .replace(/^--- a\/.*$/m, (line) => (wanted?.type === 'absent' ? '--- /dev/null' : line))
    .replace(/^\+\+\+ b\/.*$/m, (line) => (now.type === 'absent' ? '+++ /dev/null' : line));
  return { path: name, diff: shown, changeType: kindOf(now, wanted) };
}

function kindOf(now: PlannedFile['now'], wanted: PlannedFile['wanted']): ChangedFile['changeType'] {
  if (wanted?.type === 'absent') return 'added';
  return now.type === 'absent' ? 'deleted' : 'modified';
}
