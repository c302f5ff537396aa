import type { EventData } from '@groundcrew/protocol';
import type { Verdict } from './policy.js';
import { describeRule } from './rules.js';

/** How a question for permission ended, as every client receives it. */
export type PermissionOutcome = EventData<'permission.completed'>['result'];

/** What the model and clients read of a call that was refused; `rejected` ends the turn. */
export interface Refusal {
  readonly type: 'denied' | 'rejected';
  /** What the model reads. */
  readonly text: string;
  /** What clients read, where it is not the same. */
  readonly message?: string;
}

/** What a client answered, in the words of any release. */
export interface Decision {
  readonly kind: string;
  readonly approval?: Extract<PermissionOutcome, { kind: 'approved-for-session' }>['approval'];
  readonly locationKey?: string;
  /** The host that an approval of an address is for. */
  readonly domain?: string;
  readonly feedback?: string;
  readonly forceReject?: boolean;
  readonly rules?: Extract<PermissionOutcome, { kind: 'denied-by-rules' }>['rules'];
  readonly message?: string;
  readonly path?: string;
  readonly interrupt?: boolean;
  readonly reason?: string;
}

/** The client answered with an unknown kind; the question stays open. */
export class UnknownDecision extends Error {
  override readonly name = 'UnknownDecision';

  constructor(kind: string) {
    super(`Unknown permission decision "${kind}"; expected one of ${Object.keys(outcomes).join(', ')}`);
  }
}

/** Reads a decision; throws UnknownDecision. */
export function outcomeOf(decision: Decision): PermissionOutcome {
  return reader(decision)(decision);
}

/** Throws UnknownDecision for a kind that cannot be read. */
export function checkDecision(decision: Decision): void {
  reader(decision);
}

function reader({ kind }: Decision): (decision: Decision) => PermissionOutcome {
  const outcome = Object.hasOwn(outcomes, kind) ? outcomes[kind] : undefined;
  if (!outcome) throw new UnknownDecision(kind);
  return outcome;
}

/** What the model and users read about a call that was refused; undefined when it may run. */
export function refusalOf(outcome: PermissionOutcome): Refusal | undefined {
  switch (outcome.kind) {
    case 'approved':
    case 'approved-for-session':
    case 'approved-for-location':
      return undefined;
    case 'denied-interactively-by-user':
      if (!outcome.feedback) return { type: 'rejected', text: rejection };
      return { type: 'denied', text: `The user rejected this tool call. User feedback: ${outcome.feedback}` };
    case 'denied-no-approval-rule-and-could-not-request-from-user':
      return couldNotAsk;
    case 'denied-by-rules':
      return { type: 'denied', text: 'Permission denied by rules' };
    case 'denied-by-content-exclusion-policy':
      return {
        type: 'denied',
        text: `Access to ${outcome.path} is denied by a content exclusion policy: ${outcome.message}`,
      };
    case 'denied-by-permission-request-hook':
      return { type: 'denied', text: outcome.message ?? 'Permission denied by a hook' };
    case 'cancelled':
      return { type: 'denied', text: outcome.reason ?? 'The permission request was cancelled' };
  }
}

/** What the model and users read about a call that no question was asked about. */
export function refusalBy({ rule, problem, hint }: Pick<Verdict, 'rule' | 'problem' | 'hint'>): Refusal {
  if (problem !== undefined) return { type: 'denied', text: `Permission denied: ${problem}` };
  if (!rule)
    return hint === undefined ? couldNotAsk : { ...couldNotAsk, text: `${couldNotAsk.text}. ${hint}` };
  return { type: 'denied', text: `Permission denied by rules: ${describeRule(rule)}` };
}

/** No user could be asked. */
const couldNotAsk: Refusal = {
  type: 'denied',
  text: 'Permission denied and could not request permission from user',
};

const approveForSession = ({ approval }: Decision): PermissionOutcome =>
  approval ? { kind: 'approved-for-session', approval } : { kind: 'approved' };

const approveForLocation = ({ approval, locationKey }: Decision): PermissionOutcome =>
  approval && locationKey !== undefined
    ? { kind: 'approved-for-location', approval, locationKey }
    : { kind: 'approved' };

const reject = ({ feedback, forceReject }: Decision): PermissionOutcome => ({
  kind: 'denied-interactively-by-user',
  ...(feedback !== undefined && { feedback }),
  ...(forceReject !== undefined && { forceReject }),
});

const unavailable = (): PermissionOutcome => ({
  kind: 'denied-no-approval-rule-and-could-not-request-from-user',
});

const outcomes: Readonly<Record<string, (decision: Decision) => PermissionOutcome>> = {
  'approve-once': () => ({ kind: 'approved' }),
  'approve-for-session': approveForSession,
  'approve-for-location': approveForLocation,
  'approve-permanently': () => ({ kind: 'approved' }),
  reject,
  'user-not-available': unavailable,
  approved: () => ({ kind: 'approved' }),
  'approved-for-session': approveForSession,
  'approved-for-location': approveForLocation,
  'denied-interactively-by-user': reject,
  'denied-no-approval-rule-and-could-not-request-from-user': unavailable,
  'denied-by-rules': ({ rules = [] }) => ({ kind: 'denied-by-rules', rules }),
  'denied-by-content-exclusion-policy': ({ path = '', message = '' }) => ({
    kind: 'denied-by-content-exclusion-policy',
    path,
    message,
  }),
  'denied-by-permission-request-hook': ({ message, interrupt }) => ({
    kind: 'denied-by-permission-request-hook',
    ...(message !== undefined && { message }),
    ...(interrupt !== undefined && { interrupt }),
  }),
  cancelled: ({ reason }) => ({ kind: 'cancelled', ...(reason !== undefined && { reason }) }),
};

/** What a model reads of a call that a user rejected without a word. */
export const rejection = 'The user rejected this tool call.';
