import type { EventData } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import type { AgentLog } from '../log/agent-log.js';
import type { OpenQuestion } from '../log/open-question.js';
import type { Draft } from '../log/session-log.js';
import { resultOfAnswer } from '../tools/ask-user.js';
import { modeAfter, resultOfPlan } from '../tools/exit-plan-mode.js';
import type { PlanQuestion } from '../tools/plan-question.js';
import type { ToolResult } from '../tools/tool.js';
import type { UserQuestion } from '../tools/user-question.js';
import type { AskedClient } from './asked-client.js';
import { UnfitForm } from './form.js';
import type { Offer } from './offers.js';
import type { Answers, Questions } from './questions.js';

/** The kinds of questions whose answer is the result of a call. */
export type CallQuestionKind = 'user_input' | 'exit_plan_mode';

/** A question whose answer is the result of a call. */
export interface CallQuestion<K extends CallQuestionKind = CallQuestionKind> {
  readonly kind: K;
  readonly requestId: string;
  readonly offer: Offer;
  /** Throws when an answer does not fit. */
  read(answer: Answers[K]): Answers[K];
  /** What the answer completes in the log, and what the model reads of it. */
  close(answer: Answers[K]): { readonly completed: readonly Draft[]; readonly result: ToolResult };
}

/** Asks users on behalf of a call, and makes a result of what they say. */
export class CallQuestions {
  constructor(
    private readonly options: {
      readonly log: AgentLog;
      readonly questions: Questions;
      readonly clock: Clock;
      /** The clients that answer questions of a kind. */
      clients(kind: CallQuestionKind): readonly AskedClient[];
    },
  ) {}

  /** Asks the user. The event is not stored, so a note keeps the question for the process that comes after a crash. */
  askUser(question: UserQuestion, toolCallId: string): CallQuestion<'user_input'> {
    const { log, clock } = this.options;
    const asked = { requestId: clock.newId(), toolCallId, ...question };
    log.append({ note: 'question.asked', data: asked }, { type: 'user_input.requested', data: asked });
    return this.userQuestion(asked);
  }

  /** Asks what follows the plan. */
  askAboutPlan(question: PlanQuestion, toolCallId: string): CallQuestion<'exit_plan_mode'> {
    const { log, clock } = this.options;
    const requestId = clock.newId();
    const event = { requestId, ...question, actions: [...question.actions] };
    const opened = { kind: 'exit_plan_mode', requestId, toolCallId, event } as const;
    log.append({ note: 'question.opened', data: opened }, { type: 'exit_plan_mode.requested', data: event });
    return this.planQuestion(event);
  }

  /** A question that a process before this one had asked; undefined when it is of another kind. */
  left(
    open: OpenQuestion | undefined,
  ): CallQuestion<'user_input'> | CallQuestion<'exit_plan_mode'> | undefined {
    const { log } = this.options;
    if (open?.kind === 'user_input') {
      log.emit({ type: 'user_input.requested', data: open.event });
      return this.userQuestion(open.event);
    }
    if (open?.kind !== 'exit_plan_mode') return undefined;
    log.emit({ type: 'exit_plan_mode.requested', data: open.event });
    return this.planQuestion(open.event);
  }

  private userQuestion(asked: EventData<'user_input.requested'>): CallQuestion<'user_input'> {
    const { requestId, question, choices, allowFreeform } = asked;
    const { questions, log, clients } = this.options;
    const ref = { kind: 'user_input', requestId } as const;
    const params = {
      sessionId: log.sessionId,
      question,
      ...(choices && { choices }),
      ...(allowFreeform !== undefined && { allowFreeform }),
    };
    return {
      ...ref,
      offer: {
        requestId,
        clients: () => clients('user_input'),
        put: async (client, signal) => {
          const { answer, wasFreeform } = await client.ask('userInput.request', params, signal);
          return questions.answer(ref, {
            answer,
            wasFreeform: wasFreeform ?? !choices?.includes(answer),
          });
        },
        fail: () => questions.answer(ref, undefined),
      },
      read: (answer) => answer,
      close: (answer) => ({
        completed: [{ type: 'user_input.completed', data: { requestId, ...answer } }],
        result: resultOfAnswer(answer),
      }),
    };
  }

  private planQuestion(event: EventData<'exit_plan_mode.requested'>): CallQuestion<'exit_plan_mode'> {
    const { requestId, model: _, ...request } = event;
    const { questions, log, clients } = this.options;
    const ref = { kind: 'exit_plan_mode', requestId } as const;
    return {
      ...ref,
      offer: {
        requestId,
        clients: () => clients('exit_plan_mode'),
        put: async (client, signal) => {
          const params = { sessionId: log.sessionId, ...request };
          const given = await client.ask('exitPlanMode.request', params, signal);
          return questions.answer(ref, planAnswer(given));
        },
        fail: () => questions.answer(ref, undefined),
      },
      read: (answer) => fittingAction(event, answer),
      close: (answer) => ({
        completed: [...this.afterPlan(answer), completedPlan(requestId, answer)],
        result: resultOfPlan(answer),
      }),
    };
  }

  /** What an approved plan changes in the session. */
  private afterPlan(answer: Answers['exit_plan_mode']): readonly Draft[] {
    if (!answer?.approved) return [];
    const { approvals } = this.options.log.session;
    const mayEdit = {
      note: 'permissions.changed',
      data: { approvals: [...approvals, { kind: 'write' }] },
    } as const;
    const data = { previousMode: 'plan', newMode: modeAfter(answer) } as const;
    return [...(answer.autoApproveEdits ? [mayEdit] : []), { type: 'session.mode_changed', data }];
  }
}

type Action = EventData<'exit_plan_mode.requested'>['recommendedAction'];

/** What a client says of a plan, in the words of any release. */
export function planAnswer(given: {
  readonly approved: boolean;
  readonly selectedAction?: string | null | undefined;
  readonly feedback?: string | null | undefined;
  readonly autoApproveEdits?: boolean | null | undefined;
  readonly deferImplementation?: boolean | null | undefined;
}): NonNullable<Answers['exit_plan_mode']> {
  const { approved, selectedAction, feedback, autoApproveEdits, deferImplementation } = given;
  return {
    approved,
    // One that was not offered is refused when it is read.
    ...(selectedAction && { selectedAction: selectedAction as Action }),
    ...(feedback && { feedback }),
    ...(autoApproveEdits && { autoApproveEdits }),
    ...(deferImplementation && { deferImplementation }),
  };
}

function completedPlan(requestId: string, answer: Answers['exit_plan_mode']): Draft {
  const { deferImplementation: _, ...said } = answer ?? { approved: false };
  return { type: 'exit_plan_mode.completed', data: { requestId, ...said } };
}

/** Throws when what was chosen was not offered. */
function fittingAction(
  { actions }: EventData<'exit_plan_mode.requested'>,
  answer: Answers['exit_plan_mode'],
): Answers['exit_plan_mode'] {
  const chosen = answer?.approved ? answer.selectedAction : undefined;
  if (chosen !== undefined && !actions.includes(chosen))
    throw new UnfitForm('response.selectedAction', `must be one of ${actions.join(', ')}`);
  return answer;
}
