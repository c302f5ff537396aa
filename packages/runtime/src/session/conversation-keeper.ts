import { setTimeout as pause } from 'node:timers/promises';
import { isOutdated, type StoreError } from '@groundcrew/store';
import type { SessionAgents } from '../agents/session-agents.js';
import { hasWork } from '../log/fold.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import type { SessionSchedules } from '../schedules/session-schedules.js';
import type { SessionSkills } from '../skills/session-skills.js';
import type { SessionShells } from '../tools/shell/shells.js';
import type { Conversation } from './conversation.js';
import { damageWarning, farewell, lossWarning } from './session-events.js';
import type { SessionTools } from './session-tools.js';

/** How a session ends, where it is not the usual way. */
export interface Ending {
  /** What went wrong. */
  readonly errorReason?: string;
}

/** What the keeper needs of the session whose conversation it keeps. */
interface KeptSession {
  /** A conversation over the session's stored log, which this process claims. */
  openConversation(options: { readonly force?: boolean }): Promise<Conversation>;
  /** The conversation is in memory from now on. */
  onLoaded(conversation: Conversation): void;
  /** The conversation is no longer in memory: what runs for it ends. */
  onUnloaded(): Promise<void>;
  /** The last event of a session that is closed. */
  goodbye(log: SessionLog, ending: Ending): Draft;
  /** Processes of the session run, so that it cannot leave memory. */
  hasProcesses(): boolean;
}

/** Keeps a session's conversation in memory: loads it when it is needed, and unloads it without losing anything. */
export class ConversationKeeper {
  private loading: Promise<Conversation> | undefined;
  private kept: Conversation | undefined;

  constructor(private readonly session: KeptSession) {}

  /** The conversation, if it is in memory. */
  get current(): Conversation | undefined {
    return this.kept;
  }

  /** A record of its log could not be read: what lies before it can be, and nothing can be written. */
  get isReadOnly(): boolean {
    return this.kept?.log.damage !== undefined;
  }

  /** The conversation in memory; its log is read, and the session claimed, when it is not there. */
  load(options: { readonly force?: boolean } = {}): Promise<Conversation> {
    this.loading ??= this.session
      .openConversation(options)
      .then((conversation) => this.keep(conversation))
      .catch((error: unknown) => {
        this.loading = undefined;
        throw error;
      });
    return this.loading;
  }

  keep(conversation: Conversation): Conversation {
    this.kept = conversation;
    this.loading = Promise.resolve(conversation);
    this.session.onLoaded(conversation);
    const { log } = conversation;
    if (log.damage) log.append(damageWarning(log.damage));
    return conversation;
  }

  /** Works on the log; if another process has taken the session since, or the store has lost its end, on what the log is now. */
  async onLog<T>(work: (conversation: Conversation) => Promise<T>): Promise<T> {
    const conversation = await this.load();
    return work(conversation).catch(async (error: unknown) => {
      if (!isOutdated(error)) throw error;
      if (this.kept === conversation) this.discard();
      const { seq: had } = conversation.log.state;
      const now = await this.load();
      const { seq: has } = now.log.state;
      if (has < had) now.log.append(lossWarning({ had, has }));
      return work(now);
    });
  }

  /** Ends the session in this process: says goodbye, folds its log, releases it. What runs stays as pending work. */
  async close(ending: Ending = {}): Promise<SessionState> {
    const conversation = await this.load();
    await conversation.halt({ hasUserLeft: true });
    const { log } = conversation;
    if (!this.isReadOnly) {
      log.append(this.session.goodbye(log, ending));
      await log.stored();
      conversation.keepSnapshot(closingSnapshotBytes);
    }
    await log.published();
    await this.release(conversation);
    return log.state;
  }

  /** The process ends: an idle session is closed, a working one is left as pending work. */
  async endWithProcess(): Promise<void> {
    const conversation = this.kept;
    if (!conversation) return;
    if (!conversation.isRunning) {
      await this.close();
      return;
    }
    await conversation.halt();
    await this.release(conversation);
  }

  /** Resolves when no turn runs, or it only waits for users; at the latest when the signal is aborted. */
  async settled(signal: AbortSignal): Promise<void> {
    const isAtWork = () => this.kept?.isRunning === true && !this.kept.onlyWaits;
    while (isAtWork() && !signal.aborted)
      await pause(settledPauseMs, undefined, { signal }).catch(() => undefined);
  }

  /** Leaves the session to another node, with what it worked on. */
  async handOver(handOver: (claim: SessionLog['claim']) => Promise<void>): Promise<void> {
    const conversation = this.kept;
    if (!conversation) return;
    await conversation.halt();
    await conversation.log.stored();
    if (this.kept !== conversation) return;
    const { log } = conversation;
    await Promise.all([hasWork(log.state) ? handOver(log.claim) : log.release(), this.free()]);
  }

  /** Another process has the session: what runs on it ends without an event. */
  lose(error: StoreError): void {
    this.kept?.storeFailed(error);
    this.discard();
  }

  /** Frees memory, never data: the next who needs the session loads it again. */
  async unload(): Promise<void> {
    const conversation = this.kept;
    if (!conversation || conversation.isRunning || conversation.requests.hasCallers) return;
    // Its prompts come by themselves, and only to a session that is in memory.
    if (conversation.log.state.schedules.length > 0) return;
    // Headers of prompts that are held are nowhere else.
    if (conversation.inbox.hasSecrets) return;
    await conversation.stopBackground();
    if (this.kept !== conversation || conversation.isRunning) return;
    if (!this.isReadOnly) conversation.keepSnapshot(closingSnapshotBytes);
    await conversation.log.stored();
    await this.release(conversation);
  }

  /** Frees the memory of a turn that only waits for users; true when it did. The session stays this process's own. */
  async unloadWaiting(): Promise<boolean> {
    const conversation = this.kept;
    if (!conversation?.onlyWaits || this.session.hasProcesses()) return false;
    await conversation.halt();
    await conversation.log.stored();
    if (this.kept === conversation) this.discard();
    return true;
  }

  /** Frees the copy in memory without an event: another process has the session. */
  discard(): void {
    void this.free();
  }

  private async release(conversation: Conversation): Promise<void> {
    if (this.kept !== conversation) return;
    await Promise.all([conversation.log.release(), this.free()]);
  }

  private free(): Promise<void> {
    this.kept?.requests.close();
    void this.kept?.stopBackground();
    this.kept = undefined;
    this.loading = undefined;
    return this.session.onUnloaded();
  }
}

const settledPauseMs = 50;

/** A session that is closed keeps its log folded unless it is very short. */
const closingSnapshotBytes = 16 * 1024;

/** The parts of a session that live and end with its copy in memory. */
interface SessionParts {
  readonly agents: SessionAgents;
  readonly schedules: SessionSchedules;
  readonly skills: SessionSkills;
  readonly tools: SessionTools;
}

/** Keeps a session's conversation in memory, and what lives beside it. */
export function keeperOf(
  session: SessionParts,
  {
    shells,
    openConversation,
  }: {
    readonly shells: SessionShells;
    openConversation(options: { readonly force?: boolean }): Promise<Conversation>;
  },
): ConversationKeeper {
  const { agents, schedules, skills, tools } = session;
  return new ConversationKeeper({
    openConversation,
    onLoaded: ({ subAgents }) => {
      agents.loaded(subAgents);
      schedules.arm();
    },
    onUnloaded: async () => {
      schedules.disarm();
      await Promise.all([skills.close(), shells.close(), tools.mcp.close(), agents.closeServers()]);
    },
    goodbye: ({ state }, ending) => ({
      type: 'session.shutdown',
      data: farewell(state, tools.planner, ending),
    }),
    hasProcesses: () => shells.isOpen,
  });
}
