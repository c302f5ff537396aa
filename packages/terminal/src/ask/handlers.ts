import type { ResumeSessionOptions, SessionLimitsRequest } from '@groundcrew/sdk';
import { askedLines, cleanLine } from '../text/clean.js';
import { blocks } from '../text/markdown.js';
import { blocksOf } from '../text/markdown-blocks.js';
import { line } from '../text/span.js';
import type { Asking } from './asking.js';
import { askForm } from './form.js';
import { type Approvals, permissionQuestion } from './permission.js';
import type { Question } from './question.js';

/** What the handlers of a session are made of. */
export interface HandlerParts {
  readonly asking: Asking;
  readonly approvals: Approvals & {
    /** Runs without a question. */
    isAllowed: (...question: Parameters<NonNullable<ResumeSessionOptions['onPermissionRequest']>>) => boolean;
    /** The name under which approvals for the place are kept. */
    place(): Promise<string>;
  };
  columns(): number;
}

type Handlers = Required<
  Pick<
    ResumeSessionOptions,
    | 'onPermissionRequest'
    | 'onUserInputRequest'
    | 'onExitPlanModeRequest'
    | 'onAutoModeSwitchRequest'
    | 'onElicitationRequest'
    | 'onSessionLimitsRequest'
  >
>;

/** Puts the questions of a session to the user of this screen. */
export function handlersFor({ asking, approvals, columns }: HandlerParts): Handlers {
  return {
    onPermissionRequest: async (request, invocation, signal) => {
      if (approvals.isAllowed(request, invocation, signal)) return { kind: 'approve-once' };
      const question = permissionQuestion(request, invocation, approvals, await approvals.place());
      return (await asking.ask(question, signal)) ?? { kind: 'no-result' };
    },
    onUserInputRequest: async ({ question, choices = [], allowFreeform = true }, _invocation, signal) =>
      answered(await asking.ask(choiceQuestion(question, choices, allowFreeform), signal)),
    onExitPlanModeRequest: async (request, _invocation, signal) =>
      answered(await asking.ask(planQuestion(request, columns()), signal)),
    onAutoModeSwitchRequest: async ({ retryAfterSeconds }, _invocation, signal) =>
      (await asking.ask(switchQuestion(retryAfterSeconds), signal)) ?? 'no',
    onElicitationRequest: (request, { problem }, signal) =>
      askForm(request, (question) => asking.ask(question, signal), problem),
    onSessionLimitsRequest: async (request, _invocation, signal) =>
      answered(await asking.ask(limitQuestion(request), signal)),
  };
}

/** A question that another client answered, or that is void: this one has nothing to say to it. */
class NoLongerAsked extends Error {
  override readonly name = 'NoLongerAsked';
}

function answered<A>(answer: A | undefined): A {
  if (answer === undefined) throw new NoLongerAsked('The question is no longer open');
  return answer;
}

function limitQuestion({
  limit = 'maxAiCredits',
  max,
  used,
  maxAiCredits,
  usedAiCredits,
}: SessionLimitsRequest): Question {
  const spent = `${round(used ?? usedAiCredits)} of ${round(max ?? maxAiCredits)} ${limitUnits[limit]}`;
  return {
    body: [line(`The session has reached a limit: ${spent}`, 'bold')],
    options: [
      { key: 'a', label: 'Give it more', value: 'add', asksFor: `How many ${limitUnits[limit]} more?` },
      { key: 'u', label: 'Go on without this limit', value: 'unset' },
      { key: 'n', label: 'Stop', value: 'cancel' },
    ],
    read: ({ value }, words) => {
      if (value !== 'add') return { answer: { action: value } };
      const additional = Number(words);
      if (words === '' || !(additional > 0)) return { problem: 'A number above 0 is needed' };
      return { answer: { action: 'add', additional } };
    },
  };
}

const limitUnits: Readonly<Record<NonNullable<SessionLimitsRequest['limit']>, string>> = {
  maxAiCredits: 'credits',
  maxCost: 'dollars',
  maxTokens: 'tokens',
  maxCalls: 'model calls',
};

function round(number: number): number {
  return Math.round(number * 10_000) / 10_000;
}

function choiceQuestion(text: string, choices: readonly string[], allowFreeform: boolean): Question {
  const isFree = allowFreeform || choices.length === 0;
  return {
    body: askedLines(text).map((each) => line(each, 'bold')),
    options: [
      ...choices.map((choice) => ({ label: askedLines(choice).join(' '), value: choice })),
      ...(isFree
        ? [
            {
              label: 'Something else',
              value: undefined,
              asksFor: choices.length > 0 ? 'Your words' : 'Your answer',
            },
          ]
        : []),
    ],
    read: ({ value, asksFor }, words) => {
      if (asksFor === undefined) return { answer: { answer: value, wasFreeform: false } };
      return words === ''
        ? { problem: 'An answer needs words' }
        : { answer: { answer: words, wasFreeform: true } };
    },
  };
}

const actionLabels: Readonly<Record<string, string>> = {
  interactive: 'Yes, and ask before each step that needs permission',
  autopilot: 'Yes, and go on without questions',
  autopilot_fleet: 'Yes, and go on without questions, with several agents',
  exit_only: 'Yes, and stop planning',
};

function planQuestion(
  {
    summary,
    planContent,
    actions,
  }: { readonly summary: string; readonly planContent: string; readonly actions: readonly string[] },
  columns: number,
): Question {
  return {
    body: [
      ...askedLines(`The plan: ${summary}`).map((each) => line(each, 'bold')),
      ...blocks(blocksOf(planContent), columns),
    ],
    options: [
      ...actions.map((action) => ({ label: actionLabels[action] ?? cleanLine(action), value: action })),
      { key: 'n', label: 'No', value: 'no' },
      { key: 'c', label: 'No, and say what to change', value: 'change', asksFor: 'What should change?' },
    ],
    read: ({ value }, words) => {
      if (value === 'no') return { answer: { approved: false } };
      if (value === 'change')
        return { answer: { approved: false, ...(words !== '' && { feedback: words }) } };
      return { answer: { approved: true, selectedAction: value } };
    },
  };
}

function switchQuestion(retryAfterSeconds: number | undefined): Question {
  const wait = retryAfterSeconds === undefined ? '' : ` for ${retryAfterSeconds} seconds`;
  return {
    body: [line(`The model is rate limited${wait}. Go on with another one?`, 'bold')],
    options: [
      { key: 'y', label: 'Yes', value: 'yes' },
      { key: 'a', label: 'Yes, always', value: 'yes_always' },
      { key: 'n', label: 'No', value: 'no' },
    ],
    read: ({ value }) => ({ answer: value }),
  };
}
