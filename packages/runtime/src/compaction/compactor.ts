import { ModelError } from '@groundcrew/models';
import type { EventData } from '@groundcrew/protocol';
import { creditsOf } from '../budget/metrics.js';
import { knownCost } from '../budget/spending.js';
import type { AgentLog } from '../log/agent-log.js';
import { sizeOfAll } from '../log/history-view.js';
import { nothingPinned } from '../log/pinned.js';
import type { Draft } from '../log/session-log.js';
import type { HistoryEntry } from '../log/state.js';
import type { ModelAnswer, ModelCalls } from '../model-call/model-call.js';
import { coveredLength } from './covered.js';
import type { OpenWork } from './summary.js';
import {
  charactersPerToken,
  newerHalf,
  type SummaryCall,
  summaryRequest,
  type WindowUse,
} from './summary-call.js';

/** When a session is compacted: shares of the window. */
export interface CompactionSettings {
  readonly isEnabled: boolean;
  readonly background: number;
  readonly blocking: number;
}

export interface CompactorParts {
  readonly log: AgentLog;
  readonly models: ModelCalls;
  settings(): CompactionSettings;
  openWork(): Promise<OpenWork>;
  /** Keeps a summary as a file; undefined where the session has no directory. */
  keepCheckpoint(checkpoint: {
    readonly number: number;
    readonly title: string;
    readonly text: string;
  }): Promise<string | undefined>;
}

type Trigger = NonNullable<EventData<'session.compaction_start'>['trigger']>;

/** What one compaction is asked to do. */
interface CompactionRequest {
  readonly kind: 'background' | 'blocking' | 'manual';
  readonly trigger: Trigger;
  readonly customInstructions?: string | undefined;
  /** What is asked in the place of a summary. */
  readonly question?: string;
}

/** What came of a compaction. */
export interface CompactionResult {
  readonly success: boolean;
  readonly tokensRemoved: number;
  readonly messagesRemoved: number;
  readonly summaryContent?: string;
}

const nothingDone: CompactionResult = { success: false, tokensRemoved: 0, messagesRemoved: 0 };

/** After a compaction, successful or not, the conversation grows by this share of the window before the next one. */
const growthBetween = 0.05;
/** The newest rounds of a turn that stay as they are, and what of the user's messages does. */
const tailShare = 0.1;
const pinnedShare = 1 / 3;
/** The goal stays whole as long as it, the system prompt and the tools take no more of the window: there is room for turns beside it. */
const goalShare = 0.6;
const mostTries = 3;

/** Replaces the older part of one agent's conversation by a summary and what must not be lost; one at a time. */
export class Compactor {
  private running:
    | {
        readonly kind: CompactionRequest['kind'];
        readonly stop: AbortController;
        readonly done: Promise<CompactionResult>;
      }
    | undefined;
  /** Size of the history after the newest attempt. */
  private sizeBefore: number | undefined;
  /** The newest attempt brought no summary. */
  private hasFailed = false;

  constructor(private readonly parts: CompactorParts) {}

  /** Called before a model call. Begins a compaction or waits for one, by how full the window is; false when the newest one failed. */
  async makeRoom(call: SummaryCall, signal: AbortSignal): Promise<boolean> {
    this.closeInterrupted();
    const { isEnabled, background, blocking } = this.parts.settings();
    if (!isEnabled) return true;
    if (this.share(call) >= blocking) while (this.running) await ended(this.running.done, signal);
    if (this.running || !this.hasGrown(call)) return !this.hasFailed;
    const share = this.share(call);
    // Two calls at once cannot share what is left of a budget, nor may one outlive a sub-agent.
    const { agentId, session } = this.parts.log;
    const mayRunBeside = agentId === undefined && Object.keys(session.limits).length === 0;
    if (share >= blocking || (share >= background && !mayRunBeside)) {
      await this.begin(call, { kind: 'blocking', trigger: 'threshold' }, signal);
      return !this.hasFailed;
    }
    if (share >= background) void this.begin(call, { kind: 'background', trigger: 'threshold' }, never());
    return true;
  }

  /** Called when the service refused a call as too long; true when a compaction made room. */
  async afterRefusal(call: SummaryCall, signal: AbortSignal): Promise<boolean> {
    if (!this.parts.settings().isEnabled) return false;
    // No await from here to the start: of several that wait only one may begin.
    while (this.running) await ended(this.running.done, signal);
    const { success } = await this.begin(call, { kind: 'blocking', trigger: 'context_limit_retry' }, signal);
    return success;
  }

  /** By a client's request, after the one that runs. */
  async compact(
    call: SummaryCall,
    customInstructions: string | undefined,
    signal: AbortSignal,
  ): Promise<CompactionResult> {
    // No await from here to the start: of several that wait only one may begin.
    while (this.running) await ended(this.running.done, signal);
    return this.begin(call, { kind: 'manual', trigger: 'manual', customInstructions }, signal);
  }

  /** A summary for an agent that goes on elsewhere; the conversation stays as it is. */
  summariseOnly(call: SummaryCall, signal: AbortSignal): Promise<string> {
    return this.answerOnly(call, undefined, signal);
  }

  /** What the model answers to a question about the conversation, which goes on as if it had not been asked. */
  async answerOnly(call: SummaryCall, question: string | undefined, signal: AbortSignal): Promise<string> {
    const { log } = this.parts;
    const use = call.measure(log.latest);
    const request = {
      kind: 'manual',
      trigger: 'manual',
      ...(question !== undefined && { question }),
    } as const;
    const answer = await this.summarise(call, { covered: log.latest.history, request, use }, signal);
    log.append(answer.usage, { note: 'ask.settled', data: answer.settled });
    await log.stored();
    return answer.text.trim();
  }

  /** False when none of this kind runs. */
  cancel(kind: 'background' | 'manual'): boolean {
    if (!this.running || (this.running.kind === 'manual') !== (kind === 'manual')) return false;
    this.running.stop.abort(new Error('The compaction was cancelled'));
    return true;
  }

  /** Ends what runs; the conversation stays as it is. */
  async close(): Promise<void> {
    this.running?.stop.abort(new Error('The session was closed'));
    await this.running?.done.catch(() => undefined);
  }

  private share(call: SummaryCall): number {
    return call.estimate() / call.measure(this.parts.log.latest).tokenLimit;
  }

  private hasGrown(call: SummaryCall): boolean {
    const { historySize } = this.parts.log.latest;
    const { tokenLimit } = call.measure(this.parts.log.latest);
    const { sizeBefore } = this;
    return (
      sizeBefore === undefined ||
      // It was cut back since.
      historySize < sizeBefore ||
      historySize - sizeBefore >= tokenLimit * growthBetween * charactersPerToken
    );
  }

  private begin(
    call: SummaryCall,
    request: CompactionRequest,
    signal: AbortSignal,
  ): Promise<CompactionResult> {
    const stop = new AbortController();
    const done = this.run(call, request, AbortSignal.any([signal, stop.signal])).finally(() => {
      this.running = undefined;
    });
    this.running = { kind: request.kind, stop, done };
    done.catch(reportedByEvent);
    return done;
  }

  private async run(
    call: SummaryCall,
    request: CompactionRequest,
    signal: AbortSignal,
  ): Promise<CompactionResult> {
    const { log } = this.parts;
    const before = log.latest;
    const use = call.measure(before);
    const length = coveredLength(before.history, use.tokenLimit * tailShare * charactersPerToken);
    if (length === 0) return nothingDone;
    const automatic =
      request.trigger === 'manual' ? {} : { trigger: request.trigger, tokenLimit: use.tokenLimit };
    const { tokenLimit: _limit, messagesLength: _length, ...sizes } = use;
    log.append({ type: 'session.compaction_start', data: { ...sizes, ...automatic } });
    try {
      await log.stored();
      const covered = before.history.slice(0, length);
      const answer = await this.summarise(call, { covered, request, use }, signal);
      return await this.finish(call, { answer, covered, request, use, automatic });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.hasFailed = true;
      const data = { success: false, error: message, preCompactionTokens: use.currentTokens, ...automatic };
      log.append({ type: 'session.compaction_complete', data });
      signal.throwIfAborted();
      return nothingDone;
    } finally {
      this.sizeBefore = log.latest.historySize;
    }
  }

  /** Asks with as much of the conversation as there is room for: the oldest half is left out first. */
  private async summarise(
    call: SummaryCall,
    {
      covered,
      request,
      use,
    }: {
      readonly covered: readonly HistoryEntry[];
      readonly request: CompactionRequest;
      readonly use: WindowUse;
    },
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const { summaryPrompt } = await import('./summary.js');
    const room = (use.tokenLimit * 0.95 - use.systemTokens - use.toolDefinitionsTokens) * charactersPerToken;
    let entries = covered;
    for (let tries = 0; sizeOfAll(entries) > room && tries < mostTries; tries++) entries = newerHalf(entries);
    for (let tries = 1; ; tries++) {
      try {
        const answer = await this.parts.models.call(
          summaryRequest(call, entries, {
            isWaitedFor: request.kind !== 'background',
            prompt: request.question ?? summaryPrompt(request.customInstructions),
          }),
          signal,
        );
        if (answer.text.trim() === '')
          throw new Error(`The model wrote no ${request.question === undefined ? 'summary' : 'answer'}`);
        return answer;
      } catch (error) {
        const isTooLong = error instanceof ModelError && error.kind === 'context_too_long';
        if (!isTooLong || tries >= mostTries || entries.length < 2) throw error;
        entries = newerHalf(entries);
      }
    }
  }

  private async finish(
    call: SummaryCall,
    done: {
      readonly answer: ModelAnswer;
      readonly covered: readonly HistoryEntry[];
      readonly request: CompactionRequest;
      readonly use: WindowUse;
      readonly automatic: object;
    },
  ): Promise<CompactionResult> {
    const { log } = this.parts;
    const { answer, covered, request, use } = done;
    // Loaded here, because few sessions are compacted and a start need not pay for it.
    const [{ pin }, { compactedMessage }] = await Promise.all([
      import('./pinned.js'),
      import('./summary.js'),
    ]);
    const summary = answer.text.trim();
    this.hasFailed = false;
    const { compaction } = log.latest;
    const pinned = await pin(compaction?.pinned ?? nothingPinned, covered, roomsIn(use));
    const text = compactedMessage(summary, {
      pinned,
      open: await this.parts.openWork(),
      isPartial: request.kind !== 'manual',
    });
    const checkpoint = await this.checkpoint((compaction?.count ?? 0) + 1, summary);
    const lastEventId = covered.at(-1)?.eventId ?? '';
    log.append({ note: 'history.compacted', data: { lastEventId, text, pinned } });
    const after = call.measure(log.latest);
    const result = {
      success: true,
      tokensRemoved: Math.max(0, use.conversationTokens - after.conversationTokens),
      messagesRemoved: Math.max(0, covered.length - 1),
      summaryContent: summary,
    };
    log.append(...this.completed({ ...done, after, result, checkpoint }));
    log.append(...this.usageSoFar());
    await log.stored();
    return result;
  }

  /** A file that cannot be written is no reason to go without the summary, which the log has. */
  private async checkpoint(number: number, summary: string) {
    const { titleOf, withoutTitle } = await import('./summary.js');
    const title = titleOf(summary);
    const text = withoutTitle(summary);
    const path = await this.parts.keepCheckpoint({ number, title, text }).catch(() => undefined);
    return path === undefined ? {} : { checkpointNumber: number, checkpointPath: path };
  }

  private completed(done: {
    readonly answer: ModelAnswer;
    readonly request: CompactionRequest;
    readonly use: WindowUse;
    readonly after: WindowUse;
    readonly result: CompactionResult;
    readonly checkpoint: object;
    readonly automatic: object;
  }): readonly Draft[] {
    const { answer, request, use, after, result, checkpoint, automatic } = done;
    const { usage, model, milliseconds, estimatedInput } = answer.settled;
    const { outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
    const inputTokens = usage.inputTokens || estimatedInput;
    const { customInstructions } = request;
    return [
      answer.usage,
      { note: 'ask.settled', data: answer.settled },
      {
        type: 'session.compaction_complete',
        data: {
          ...result,
          ...checkpoint,
          ...automatic,
          preCompactionTokens: use.currentTokens,
          postCompactionTokens: after.currentTokens,
          preCompactionMessagesLength: use.messagesLength,
          systemTokens: after.systemTokens,
          conversationTokens: after.conversationTokens,
          toolDefinitionsTokens: after.toolDefinitionsTokens,
          compactionTokensUsed: {
            inputTokens,
            outputTokens,
            cacheReadTokens,
            cacheWriteTokens,
            duration: Math.round(milliseconds),
            model,
          },
          ...(answer.responseId !== undefined && { requestId: answer.responseId }),
          ...(customInstructions !== undefined && { customInstructions }),
        },
      },
    ];
  }

  /** What the session has used so far, the summary included; no event for a sub-agent's compaction. */
  private usageSoFar(): readonly Draft[] {
    const { agentId, latestSession } = this.parts.log;
    if (agentId !== undefined) return [];
    const { totalNanoAiu = 0 } = creditsOf(knownCost(latestSession.spending));
    return [{ type: 'session.usage_checkpoint', data: { totalNanoAiu } }];
  }

  /** Ends, as failed, a compaction that began in a process that died. */
  private closeInterrupted(): void {
    const { log } = this.parts;
    if (this.running || !log.latest.isCompacting) return;
    const error = 'The runtime ended before the summary was there';
    log.append({ type: 'session.compaction_complete', data: { success: false, error } });
  }
}

/** Characters that what is pinned may take, and the goal alone. */
function roomsIn({ tokenLimit, systemTokens, toolDefinitionsTokens }: WindowUse) {
  const room = tokenLimit * pinnedShare * charactersPerToken;
  const beside = tokenLimit * goalShare - systemTokens - toolDefinitionsTokens;
  return { room, goalRoom: Math.max(room / 3, beside * charactersPerToken) };
}

/** Waits until a compaction has ended, however it ended. Throws when the signal fires before. */
async function ended(done: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([done.catch(reportedByEvent), aborted]);
  signal.throwIfAborted();
}

function never(): AbortSignal {
  return new AbortController().signal;
}

/** For failures that clients receive by `session.compaction_complete`. */
const reportedByEvent = (): undefined => undefined;
