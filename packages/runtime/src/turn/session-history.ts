import { randomUUID } from 'node:crypto';
import type { CompactionResult, Compactor, CompactorParts } from '../compaction/compactor.js';
import type { SummaryCall } from '../compaction/summary-call.js';
import type { SessionLog } from '../log/session-log.js';
import { agentOf, type Prompt } from '../log/state.js';
import type { Workspace } from '../workspace/workspace.js';
import { type CompactingSession, compactionSettings } from './compaction-settings.js';
import type { PromptExtras } from './interaction.js';
import { openWorkOf } from './open-work.js';

/** A session's log in memory, and the loop that works on it. */
interface HistoryConversation {
  readonly log: SessionLog;
  readonly compactor: Compactor;
  summaryCall(signal: AbortSignal): Promise<SummaryCall>;
}

/** The session whose history it is. */
interface HistorySession extends CompactingSession {
  readonly workspace: Workspace;
  readonly isRunning: boolean;
  send(prompt: Prompt, extras: PromptExtras): Promise<void>;
  load(): Promise<HistoryConversation>;
}

/** What the model sees of a session's past: summaries, and what stands beside them. */
export class SessionHistory {
  constructor(private readonly session: HistorySession) {}

  /** Puts a summary in the place of the older messages now. */
  async compact(customInstructions: string | undefined, signal: AbortSignal): Promise<CompactionResult> {
    const conversation = await this.session.load();
    const call = await conversation.summaryCall(signal);
    return conversation.compactor.compact(call, customInstructions, signal);
  }

  /** The model has read nothing yet. */
  async isEmpty(): Promise<boolean> {
    return agentOf((await this.session.load()).log.state).history.length === 0;
  }

  /** False when no such compaction runs. */
  async cancelCompaction(kind: 'background' | 'manual'): Promise<boolean> {
    return (await this.session.load()).compactor.cancel(kind);
  }

  /**
   * The model starts from nothing but a prompt. While a turn runs, its next call does; an idle session begins one.
   * Resolves with how many messages went.
   */
  async clear(prompt: string): Promise<number> {
    const { session } = this;
    const { log, compactor } = await session.load();
    await compactor.close();
    const messagesCleared = agentOf(log.latest).history.length;
    const { isRunning } = session;
    const initialMessage = isRunning ? { initialMessage: prompt } : {};
    log.append({ type: 'session.context_cleared', data: { messagesCleared, ...initialMessage } });
    await log.published();
    if (!isRunning)
      await session.send({ messageId: randomUUID(), text: prompt, mode: 'enqueue' }, { trace: {} });
    return messagesCleared;
  }

  /** What is needed to go on with the work elsewhere; empty before the first message. */
  async handoff(signal: AbortSignal): Promise<string> {
    if (await this.isEmpty()) return '';
    const conversation = await this.session.load();
    const { compactor } = conversation;
    const summary = await compactor.summariseOnly(await conversation.summaryCall(signal), signal);
    const { titleOf } = await import('../compaction/summary.js');
    return `# ${titleOf(summary)}\n\n${summary}`;
  }

  /** What the model answers to a question about the conversation, which goes on as if it had not been asked. */
  async answer(question: string, signal: AbortSignal): Promise<string> {
    const conversation = await this.session.load();
    return conversation.compactor.answerOnly(await conversation.summaryCall(signal), question, signal);
  }

  /** When this session's conversation is summarised, and with what beside it. */
  partsFor(log: SessionLog): Omit<CompactorParts, 'log' | 'models'> {
    const { session } = this;
    return {
      settings: () => compactionSettings(session, log.state),
      openWork: () => openWorkOf(session.workspace, log.state),
      keepCheckpoint: async (checkpoint) =>
        session.hasWorkspaceIn(log.state) ? session.workspace.checkpoints.write(checkpoint) : undefined,
    };
  }
}
