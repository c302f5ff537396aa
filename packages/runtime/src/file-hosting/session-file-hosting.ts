import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import type { SessionState } from '../log/state.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { EventFile } from '../workspace/event-file.js';
import { type FileSync, unsynced } from '../workspace/file-sync.js';
import { type FileHost, HostedFiles, type HostingSettings } from '../workspace/hosted-files.js';
import { Mirror } from '../workspace/mirror.js';
import { planPathIn } from '../workspace/plan.js';
import type { Workspace } from '../workspace/workspace.js';
import { workspaceFacts, yamlOf } from './workspace-facts.js';

/** How long a session that is closed waits for a client that answers nothing, and for one that answers slowly. */
const longestSilence = 4_000;
const longestFarewell = 30_000;

/** The session whose files a client may store. */
interface HostedSession {
  readonly sessionId: string;
  readonly workspacePath: string;
  readonly workspace: Workspace;
  readonly audience: { readonly fileHost: FileHost | undefined };
  readonly currentSettings: SessionSettings;
  readonly loadedState: SessionState | undefined;
  readonly tools: { warn(messages: readonly string[]): Promise<void> };
  read(after?: number): AsyncIterable<readonly LogRecord[]>;
}

/** A session's files where a client stores them. The log stays the truth, and what is stored follows it. */
export class SessionFileHosting implements FileSync {
  private readonly files: HostedFiles;
  private known:
    | { readonly settings: HostingSettings; readonly mirror: Mirror; readonly events: EventFile }
    | undefined;
  private knownSettings: HostingSettings | undefined;
  private cuts = 0;
  private described = '';
  private isBehind = false;
  private isFailing = false;
  private isOpen = false;
  /** The client was silent when the session was closed: it is not waited for a second time. */
  private hasGivenUp = false;
  /** The client that has what was stored so far. */
  private host: FileHost | undefined;
  private following: Promise<void> | undefined;

  constructor(
    private readonly session: HostedSession,
    private readonly directory: string,
  ) {
    this.files = new HostedFiles(
      session.sessionId,
      () => session.audience.fileHost,
      (message) => this.warn(message),
    );
  }

  /** Whether a client stores the session's files. */
  get isOn(): boolean {
    return this.settings !== undefined;
  }

  /** The directory of its files, as the client that stores them names it; undefined when no client does. */
  get statePath(): string | undefined {
    return this.settings?.statePath;
  }

  /** The session's tables, where a client keeps them. */
  get tables(): HostedFiles | undefined {
    return this.settings?.hasTables ? this.files : undefined;
  }

  /** Why files cannot be reached now; undefined when they can. */
  get problem(): string | undefined {
    if (!this.isOn || this.session.audience.fileHost) return undefined;
    return 'The files of this session are stored by a client that is not attached: its plan, its workspace files and its long results cannot be read or written until that client resumes it.';
  }

  /** What is known of the session's workspace, under the names that clients know. */
  facts(state: SessionState) {
    const { sessionId, currentSettings } = this.session;
    return workspaceFacts(sessionId, state, currentSettings.clientName);
  }

  pull(path: string): Promise<void> {
    return this.sync.pull(path);
  }

  push(path: string): Promise<void> {
    return this.sync.push(path);
  }

  shown(path: string): string {
    return this.sync.shown(path);
  }

  local(path: string): string | undefined {
    return this.sync.local(path);
  }

  /** What is stored is there when this resolves: directories, the description, and what was on this disk before. Throws HostFailure. */
  async open(): Promise<void> {
    if (!this.isOn || !this.session.audience.fileHost) return;
    this.noticeHost();
    await this.session.workspace.make();
    if ((await this.files.read(this.shownName('workspace.yaml'))) === undefined) {
      await this.begin();
      this.described = '';
    }
    await this.describe();
    this.isOpen = true;
    this.hasGivenUp = false;
    this.changed();
  }

  /** Something was stored in the log: the lines of events follow, at their own pace. */
  changed(): void {
    if (!this.isOn) return;
    this.cuts = this.session.loadedState?.removed.length ?? this.cuts;
    this.isBehind = true;
    this.following ??= this.follow().finally(() => {
      this.following = undefined;
      // Stored after the last look, and before this.
      if (this.isBehind && !this.isFailing && this.session.audience.fileHost) this.changed();
    });
  }

  /**
   * The lines of events are where the log is, unless the client cannot take them: then they follow when it comes again. A client
   * that answers nothing is waited for some seconds, one that answers slowly longer.
   */
  async settle(): Promise<void> {
    // A client that could not even begin is not waited for again.
    if (!this.isOn || !this.isOpen || this.hasGivenUp) return;
    this.changed();
    const until = performance.now() + longestFarewell;
    let seen = this.files.answered;
    const watch = setInterval(() => {
      const isMute = this.files.answered === seen;
      seen = this.files.answered;
      if (!isMute && performance.now() < until) return;
      this.hasGivenUp = true;
      this.files.abandon();
    }, longestSilence);
    try {
      while (this.following !== undefined) await this.following;
    } finally {
      clearInterval(watch);
    }
  }

  private get settings(): HostingSettings | undefined {
    const { currentSettings, loadedState } = this.session;
    return currentSettings.hosting ?? loadedState?.fixed.hosting ?? this.knownSettings;
  }

  private get sync(): FileSync {
    return this.parts?.mirror ?? unsynced;
  }

  private get parts() {
    const { settings } = this;
    if (!settings || this.known?.settings === settings) return this.known;
    const { directory, files } = this;
    const mirror = new Mirror(directory, files, settings);
    const path = mirror.shown(join(directory, 'events.jsonl'));
    const source = { cuts: () => this.cuts, read: (after?: number) => this.session.read(after) };
    const sink = {
      size: async () => (await files.stat(path))?.size,
      begin: (text: string) => files.write(path, text),
      append: (text: string) => files.append(path, text),
    };
    const events = new EventFile(source, join(directory, 'events.mark.json'), sink);
    this.known = { settings, mirror, events };
    this.knownSettings = settings;
    return this.known;
  }

  private async begin(): Promise<void> {
    for (const name of ['checkpoints', 'files', 'research'])
      await this.files.makeDirectory(this.shownName(name));
    const own = [planPathIn(this.directory), join(this.directory, 'autopilot-objective.md')];
    const directories = ['files', 'checkpoints'].map((name) => join(this.directory, name));
    for (const path of [...own, ...directories]) if (existsSync(path)) await this.push(path);
    await this.session.workspace.checkpoints.ensureIndex();
  }

  /** What fails is tried again with the next event: nothing of it is lost, for the log has it. */
  private async follow(): Promise<void> {
    while (this.isBehind && this.session.audience.fileHost) {
      this.isBehind = false;
      this.noticeHost();
      try {
        await this.parts?.events.update();
        await this.describe();
        this.isFailing = false;
      } catch (error) {
        // The client or this disk failed. No request waits for this, and the runtime goes on serving others.
        this.warnOnce(error);
        return;
      }
    }
  }

  /** After a change of the file host nothing is known of what is stored: the new one has other files. */
  private noticeHost(): void {
    const { fileHost } = this.session.audience;
    if (!fileHost || fileHost === this.host) return;
    this.host = fileHost;
    this.hasGivenUp = false;
    this.known = undefined;
    this.described = '';
  }

  /** Warns once, and again only after it has worked. */
  private warnOnce(error: unknown): void {
    if (this.isFailing) return;
    this.isFailing = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.warn(`The events of this session are not stored by its client now, and follow later. ${reason}`);
  }

  private warn(message: string): void {
    // A closed session has no client to warn, and is not opened for a warning.
    if (this.session.loadedState) void this.session.tools.warn([message]).catch(() => undefined);
  }

  /** Writes `workspace.yaml`: under another name first, so that it is whole whenever it is read. */
  private async describe(): Promise<void> {
    const { loadedState } = this.session;
    if (!loadedState) return;
    const { host } = this;
    const facts = this.facts(loadedState);
    const { updated_at: _, ...lasting } = facts;
    if (this.described === yamlOf(lasting)) return;
    const path = this.shownName('workspace.yaml');
    const draft = `${path}.tmp.${crypto.randomUUID()}`;
    await this.files.write(draft, yamlOf(facts));
    await this.files.rename(draft, path);
    if (this.host === host) this.described = yamlOf(lasting);
  }

  private shownName(name: string): string {
    return this.shown(join(this.directory, name));
  }
}
