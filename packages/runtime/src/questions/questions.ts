import { setTimeout as pause } from 'node:timers/promises';
import type { EventData } from '@groundcrew/protocol';
import { StoreError } from '@groundcrew/store';
import type { LimitsAnswer } from '../budget/limits.js';
import type { SessionLog } from '../log/session-log.js';
import { openQuestions } from '../log/state.js';
import type { PermissionOutcome } from '../permissions/decision.js';
import type { ExternalAnswer } from '../tools/external.js';
import type { PlanAnswer } from '../tools/plan-question.js';
import type { UserAnswer } from '../tools/user-question.js';
import type { Waits } from './waits.js';

/** What is answered to each kind of question. */
export interface Answers {
  auto_mode_switch: Pick<EventData<'auto_mode_switch.completed'>, 'response'>;
  command: { readonly error?: string };
  elicitation: Omit<EventData<'elicitation.completed'>, 'requestId'>;
  exit_plan_mode: PlanAnswer;
  external_tool: ExternalAnswer;
  permission: PermissionOutcome;
  session_limits: LimitsAnswer;
  queued_command: { readonly handled?: boolean; readonly stopProcessingQueue?: boolean };
  /** What the model is to have said; undefined when the request was refused. */
  sampling: Readonly<Record<string, unknown>> | undefined;
  /** Undefined when no client that was asked could answer. */
  user_input: UserAnswer | undefined;
}

/** A question as it is known to those who answer it. */
export interface QuestionRef<K extends keyof Answers = keyof Answers> {
  readonly kind: K;
  readonly requestId: string;
}

interface Waiting {
  readonly kind: keyof Answers;
  /** Throws when the answer does not fit; the question stays open. */
  read(answer: unknown): unknown;
  settle(answer: unknown): void;
}

/** Questions to users: an event goes out to all, the first answer wins, the log records both. */
export class Questions {
  private readonly waiting = new Map<string, Waiting>();

  constructor(
    private readonly log: SessionLog,
    private readonly waits: Waits,
  ) {}

  /** A caller in this process waits for the answer. */
  isWaiting(requestId: string): boolean {
    return this.waiting.has(requestId);
  }

  /**
   * Waits for the answer; `settle` writes it, and all that it completes, to the log at once. An answer that `read` throws
   * at is refused, and the question stays open.
   */
  ask<K extends keyof Answers, R>(
    { kind, requestId }: QuestionRef<K>,
    settle: (answer: Answers[K]) => R,
    signal: AbortSignal,
    read: (answer: Answers[K]) => Answers[K] = (answer) => answer,
  ): Promise<R> {
    signal.throwIfAborted();
    const asked = new Promise<R>((resolve, reject) => {
      const stop = () => {
        this.waiting.delete(requestId);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.waiting.set(requestId, {
        kind,
        read: (answer) => read(answer as Answers[K]),
        settle: (answer) => {
          signal.removeEventListener('abort', stop);
          // `answer` lets nothing through but what its kind is answered with.
          resolve(settle(answer as Answers[K]));
        },
      });
    });
    const wait = waitKinds[kind];
    return wait ? this.waits.during({ kind: wait, requestId }, asked) : asked;
  }

  /** True once the answer is stored and emitted; throws when it does not fit. False says to a slower client that it came late, or asked for no such thing. */
  async answer<K extends keyof Answers>(
    { kind, requestId }: QuestionRef<K>,
    answer: Answers[K],
  ): Promise<boolean> {
    const question = this.waiting.get(requestId) ?? (await this.reopened(requestId));
    if (question?.kind !== kind) return false;
    const fitting = question.read(answer);
    // mutation: accept a second answer
    this.waiting.delete(requestId);
    question.settle(fitting);
    await this.log.published();
    return true;
  }

  /**
   * A question that no turn waits for here. An answer counts as late only when the log has an earlier one: an answer that is
   * not stored yet may still be lost, and a turn that is taken up from the log asks again.
   */
  private async reopened(requestId: string): Promise<Waiting | undefined> {
    const isOpen = () => openQuestions(this.log.state).some((each) => each.requestId === requestId);
    await this.log.stored();
    if (this.log.damage) return undefined;
    for (let waited = 0; isOpen() && !this.waiting.has(requestId); waited += reopenedPauseMs) {
      if (waited > reopenedMs)
        throw new StoreError(
          'busy',
          'The question is open, but its turn has not been taken up yet. Try again.',
        );
      await pause(reopenedPauseMs);
      await this.log.stored();
    }
    return this.waiting.get(requestId);
  }
}

const reopenedPauseMs = 10;
const reopenedMs = 2_000;

/** Under which name a question is waited for; a client's run of its tool is waited for as a tool. */
const waitKinds = {
  auto_mode_switch: 'auto_mode_switch',
  command: 'command',
  elicitation: 'elicitation',
  exit_plan_mode: 'exit_plan_mode',
  external_tool: undefined,
  permission: 'permission',
  queued_command: 'command',
  sampling: 'sampling',
  session_limits: 'session_limits',
  user_input: 'user_input',
} as const satisfies Record<keyof Answers, string | undefined>;
