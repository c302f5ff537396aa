import type { ResumeSessionOptions } from '@groundcrew/sdk';

type Handler<K extends keyof ResumeSessionOptions> = NonNullable<ResumeSessionOptions[K]>;
type PlanAnswer = Awaited<ReturnType<Handler<'onExitPlanModeRequest'>>>;

/** A question of a session as hosts read it. */
export interface OpenQuestion {
  readonly questionId: string;
  readonly kind: 'permission' | 'input' | 'plan' | 'form';
  readonly [field: string]: unknown;
}

/** What a host answers. */
export interface HostAnswer {
  readonly decision?: 'approve' | 'deny' | undefined;
  readonly answer?: string | undefined;
  readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>> | undefined;
  readonly feedback?: string | undefined;
}

interface Pending {
  readonly question: OpenQuestion;
  /** Throws when the answer does not fit the question. */
  settle(answer: HostAnswer): void;
}

/** The questions of one session that wait for the host: nothing is decided for it, and one without an answer stays open. */
export class Questions {
  private readonly pending = new Map<string, Pending>();
  private count = 0;

  constructor(private readonly changed: () => void) {}

  list(): readonly OpenQuestion[] {
    return [...this.pending.values()].map(({ question }) => question);
  }

  /** Throws when there is no such question, or the answer does not fit it. */
  answer(questionId: string, answer: HostAnswer): void {
    const asked = this.pending.get(questionId);
    if (!asked) throw new Error(`There is no open question ${questionId}; it may have been answered`);
    asked.settle(answer);
    this.pending.delete(questionId);
    this.changed();
  }

  /** What the session calls. */
  handlers(): Pick<
    ResumeSessionOptions,
    'onPermissionRequest' | 'onUserInputRequest' | 'onExitPlanModeRequest' | 'onElicitationRequest'
  > {
    return {
      onPermissionRequest: (request, { promptRequest }, signal) =>
        this.ask(
          { kind: 'permission', request, ...(promptRequest && { promptRequest }) },
          signal,
          (answer) => {
            if (decided(answer) === 'approve') return { kind: 'approve-once' } as const;
            return { kind: 'reject', feedback: answer.feedback ?? 'The user said no' } as const;
          },
        ),
      onUserInputRequest: ({ question, choices, allowFreeform }, _, signal) =>
        this.ask({ kind: 'input', question, choices, allowFreeform }, signal, ({ answer }) => {
          if (answer === undefined) throw new Error('The question needs an answer in words: answer');
          const isChoice = choices.includes(answer);
          if (!isChoice && !allowFreeform) throw new Error(`The answer must be one of ${choices.join(', ')}`);
          return { answer, wasFreeform: !isChoice };
        }),
      onExitPlanModeRequest: (request, _, signal) =>
        this.ask({ kind: 'plan', ...request }, signal, (answer): PlanAnswer => {
          const approved = decided(answer) === 'approve';
          return { approved, ...(answer.feedback !== undefined && { feedback: answer.feedback }) };
        }),
      onElicitationRequest: ({ sessionId: _id, ...form }, _, signal) =>
        this.ask({ kind: 'form', ...form }, signal, (answer) => {
          if (answer.content) return { action: 'accept', content: answer.content } as const;
          return { action: decided(answer) === 'approve' ? 'accept' : 'decline' } as const;
        }),
    };
  }

  private ask<T>(
    asked: Omit<OpenQuestion, 'questionId'>,
    signal: AbortSignal,
    read: (answer: HostAnswer) => T,
  ): Promise<T> {
    this.count += 1;
    const questionId = `q${this.count}`;
    return new Promise<T>((resolve, reject) => {
      this.pending.set(questionId, {
        question: { ...asked, questionId } as OpenQuestion,
        settle: (answer) => resolve(read(answer)),
      });
      signal.addEventListener(
        'abort',
        () => {
          this.pending.delete(questionId);
          this.changed();
          reject(signal.reason);
        },
        { once: true },
      );
      this.changed();
    });
  }
}

function decided({ decision }: HostAnswer): 'approve' | 'deny' {
  if (decision === undefined) throw new Error('The question needs a decision: approve or deny');
  return decision;
}
