import type { Channel } from '@groundcrew/rpc';
import type { Session } from '@groundcrew/runtime';
import { Refusal } from './failure.js';

/** A program that may join sessions. */
export interface FoundExtension {
  readonly id: string;
  readonly name: string;
  readonly source: 'project' | 'user';
  readonly entry: string;
}

/** One that runs: its standard streams are the wire. */
export interface RunningExtension {
  readonly channel: Channel;
  readonly pid: number | undefined;
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  kill(): void;
}

/** How the program around the server finds and starts extensions. */
export interface ExtensionHost {
  find(workingDirectory: string): readonly FoundExtension[];
  /** The user's own, wherever he works. */
  findOfUser(): readonly FoundExtension[];
  /** The ids of those that the user has switched off for all sessions. Throws what is wrong with the file. */
  disabled(): readonly string[];
  /** Switches them on or off for sessions to come. */
  switch(ids: readonly string[], enabled: boolean): Promise<void>;
  launch(
    extension: FoundExtension,
    options: { readonly sessionId: string; readonly workingDirectory: string; readonly sdkPath?: string },
  ): RunningExtension;
}

interface Entry {
  readonly found: FoundExtension;
  status: 'running' | 'disabled' | 'failed' | 'starting';
  running?: RunningExtension;
  clientId?: string;
}

interface SessionExtensions {
  readonly sdkPath: string | undefined;
  /** By id, what clients said of an extension in this session: it goes before what the user said for all. */
  readonly wishes: Map<string, 'on' | 'off'>;
  entries: Map<string, Entry>;
}

/** The extensions of all sessions: children that are served like any other client, and leave with the last one. */
export class Extensions {
  private readonly sessions = new Map<string, SessionExtensions>();

  constructor(
    private readonly host: ExtensionHost | undefined,
    /** Serves a child until its channel closes; calls back with the client that it is. */
    private readonly serve: (
      channel: Channel,
      extension: { readonly id: string; readonly name: string; joined(clientId: string): void },
    ) => Promise<void>,
  ) {}

  get isAvailable(): boolean {
    return this.host !== undefined;
  }

  /** Starts what there is for a session that wants extensions; a second wish changes nothing. */
  async start(session: Session, sdkPath: string | undefined): Promise<void> {
    if (!this.host || this.sessions.has(session.sessionId)) return;
    const extensions: SessionExtensions = { sdkPath, wishes: new Map(), entries: new Map() };
    this.sessions.set(session.sessionId, extensions);
    await this.load(session, extensions);
  }

  /** The session has asked for extensions. */
  has(sessionId: string): boolean {
    return this.sessions.has(sessionId);
  }

  list(sessionId: string) {
    return [...(this.sessions.get(sessionId)?.entries.values() ?? [])].map(({ found, status, running }) => {
      const { id, name, source } = found;
      return { id, name, source, status, ...(running?.pid !== undefined && { pid: running.pid }) };
    });
  }

  /** Throws Refusal. */
  async enable(session: Session, id: string): Promise<void> {
    const { extensions, entry } = this.require(session, id);
    extensions.wishes.set(id, 'on');
    if (entry.running) return;
    this.launch(session, extensions, entry);
    await this.announce(session);
  }

  /** Throws Refusal. */
  async disable(session: Session, id: string): Promise<void> {
    const { extensions, entry } = this.require(session, id);
    extensions.wishes.set(id, 'off');
    entry.status = 'disabled';
    await end(entry);
    await this.announce(session);
  }

  /** Throws Refusal. */
  async reload(session: Session): Promise<void> {
    const extensions = this.sessions.get(session.sessionId);
    if (!extensions) throw new Refusal('Extensions not available');
    await Promise.all([...extensions.entries.values()].map(end));
    await this.load(session, extensions);
  }

  /** Ends extensions that were removed or disabled and starts new and enabled ones; the rest keeps running. Throws Refusal. */
  async reconcile(session: Session): Promise<void> {
    const extensions = this.sessions.get(session.sessionId);
    if (!extensions) throw new Refusal('Extensions not available');
    const wanted = this.found(session, extensions);
    const before = extensions.entries;
    const ended = [...before.values()].filter(({ found: { id } }) => !wanted.get(id)?.isOn);
    for (const entry of ended) entry.status = 'disabled';
    await Promise.all(ended.map(end));
    extensions.entries = new Map(
      [...wanted].map(([id, { found }]) => [id, before.get(id) ?? { found, status: 'disabled' }]),
    );
    for (const [id, entry] of extensions.entries)
      if (wanted.get(id)?.isOn && !entry.running) this.launch(session, extensions, entry);
    await this.announce(session);
  }

  /** The user's extensions, and whether sessions to come have them. */
  discover() {
    const disabled = this.host?.disabled() ?? [];
    const extensions = (this.host?.findOfUser() ?? []).map(({ id, name, entry }) => ({
      id,
      name,
      path: entry,
      source: 'user' as const,
      enabled: !disabled.includes(id),
    }));
    return { extensions, mode: this.host ? ('load_only' as const) : ('disabled' as const) };
  }

  /** Switches extensions of the user on or off for sessions to come. Throws Refusal. */
  async switch(ids: readonly string[], enabled: boolean): Promise<void> {
    if (!this.host) throw new Refusal('Extensions not available');
    const known = this.host.findOfUser();
    const unknown = ids.find((id) => !known.some((each) => each.id === id));
    if (unknown !== undefined) throw new Refusal(`Extension not found: ${unknown}`);
    await this.host.switch(ids, enabled);
  }

  /** A client is about to leave a session: when only extensions would stay, they leave before it. */
  async leaving(session: Session | undefined, clientId: string): Promise<void> {
    if (session && this.isAlone(session, clientId)) await this.stop(session.sessionId);
  }

  /** A connection is gone: extensions do not keep a session open. */
  left(find: (sessionId: string) => Session | undefined): void {
    for (const sessionId of this.sessions.keys()) {
      const session = find(sessionId);
      if (!session || this.isAlone(session)) void this.stop(sessionId);
    }
  }

  async stop(sessionId: string): Promise<void> {
    const extensions = this.sessions.get(sessionId);
    this.sessions.delete(sessionId);
    await Promise.all([...(extensions?.entries.values() ?? [])].map(end));
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.sessions.keys()].map((sessionId) => this.stop(sessionId)));
  }

  private async load(session: Session, extensions: SessionExtensions): Promise<void> {
    const wanted = this.found(session, extensions);
    extensions.entries = new Map(
      [...wanted].map(([id, { found }]) => [id, { found, status: 'disabled' } as Entry]),
    );
    for (const [id, entry] of extensions.entries)
      if (wanted.get(id)?.isOn) this.launch(session, extensions, entry);
    await this.announce(session);
  }

  /** What there is for a session now, and what of it should run. */
  private found({ currentSettings }: Session, { wishes }: SessionExtensions) {
    const disabled = this.host?.disabled() ?? [];
    const found = this.host?.find(currentSettings.workingDirectory) ?? [];
    const isOn = (id: string) => (wishes.get(id) ?? (disabled.includes(id) ? 'off' : 'on')) === 'on';
    return new Map(found.map((each) => [each.id, { found: each, isOn: isOn(each.id) }] as const));
  }

  private launch(
    { sessionId, currentSettings }: Session,
    { sdkPath }: SessionExtensions,
    entry: Entry,
  ): void {
    const { workingDirectory } = currentSettings;
    const running = this.host?.launch(entry.found, {
      sessionId,
      workingDirectory,
      ...(sdkPath !== undefined && { sdkPath }),
    });
    if (!running) return;
    entry.running = running;
    entry.status = 'starting';
    const { id, name } = entry.found;
    const joined = (clientId: string) => {
      entry.clientId = clientId;
      entry.status = 'running';
    };
    void this.serve(running.channel, { id, name, joined });
    void running.ended.then(() => {
      if (entry.running !== running) return;
      delete entry.running;
      delete entry.clientId;
      if (entry.status !== 'disabled') entry.status = 'failed';
    });
  }

  private async announce(session: Session): Promise<void> {
    const extensions = this.list(session.sessionId).map(({ id, name, source, status }) => ({
      id,
      name,
      source,
      status,
    }));
    await session.emit({ type: 'session.extensions_loaded', data: { extensions } });
  }

  private isAlone({ sessionId, audience }: Session, without?: string): boolean {
    const entries = [...(this.sessions.get(sessionId)?.entries.values() ?? [])];
    if (entries.length === 0) return false;
    const joined = entries.filter(({ clientId }) => clientId !== undefined && audience.has(clientId)).length;
    const others = without !== undefined && audience.has(without) ? 1 : 0;
    return audience.size === joined + others;
  }

  private require(session: Session, id: string): { extensions: SessionExtensions; entry: Entry } {
    const extensions = this.sessions.get(session.sessionId);
    if (!extensions) throw new Refusal('Extensions not available');
    const entry = extensions.entries.get(id);
    if (!entry) throw new Refusal(`Extension not found: ${id}`);
    return { extensions, entry };
  }
}

/** Resolves when the process is gone. */
async function end(entry: Entry): Promise<void> {
  const { running } = entry;
  if (!running) return;
  running.kill();
  await running.ended;
}
