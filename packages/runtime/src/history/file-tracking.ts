import type { FileBefore } from '../log/file-change.js';
import type { SessionLog } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { type FileWrite, linesOfDiff } from '../tools/file-write.js';
import { digestOf, FileSnapshots } from '../workspace/file-snapshots.js';

/** The session whose tools write files. */
interface WritingSession {
  readonly workspacePath: string;
  readonly currentSettings: SessionSettings;
  load(): Promise<{ readonly log: SessionLog }>;
}

/** Remembers what tools write: how much it was and, where changes are tracked, what was there before. */
export class FileTracking {
  readonly snapshots: FileSnapshots;

  constructor(private readonly session: WritingSession) {
    this.snapshots = new FileSnapshots(session.workspacePath);
  }

  /** What tools write can be taken back. */
  isOn({ fixed }: SessionState): boolean {
    return this.session.currentSettings.tracksFiles ?? fixed.tracksFiles ?? false;
  }

  /** What the file held is durable before `work` writes it. */
  async record<T>(write: FileWrite, work: () => Promise<T>): Promise<T> {
    const { log } = await this.session.load();
    const { path, real, after } = write;
    const lines = linesOfDiff(write.diff);
    const { promptId } = log.latest;
    if (promptId !== undefined && this.isOn(log.latest)) {
      const before = await this.keep(write);
      const data = { promptId, path, real, before, after: digestOf(after), ...lines };
      log.append({ note: 'file.changing', data });
      await log.stored();
    }
    const result = await work();
    log.append({ note: 'file.written', data: { path, ...lines } });
    return result;
  }

  /** A file that cannot be kept is written all the same; a rewind says that it leaves it as it is. */
  private async keep({ before }: FileWrite): Promise<FileBefore> {
    if (!before) return { type: 'absent' };
    const { content, mode } = before;
    try {
      return { type: 'kept', digest: await this.snapshots.keep(content), mode };
    } catch {
      return { type: 'lost' };
    }
  }
}
