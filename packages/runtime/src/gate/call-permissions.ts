import { isDeepStrictEqual } from 'node:util';
import type { EventData } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import type { AgentLog } from '../log/agent-log.js';
import type { Draft } from '../log/session-log.js';
import { type Refusal, refusalBy, refusalOf } from '../permissions/decision.js';
import {
  Forbidden,
  forbid,
  judge,
  type PolicyRules,
  type Prohibitions,
  type Verdict,
} from '../permissions/policy.js';
import type { PermissionQuestion, PermissionRequest } from '../permissions/question.js';
import { examine, type Subject } from '../permissions/subject.js';
import type { Answers, Questions } from '../questions/questions.js';
import type { ToolEnvironment } from '../tools/tool.js';
import type { CallToRun } from './call.js';

/** What a verdict on a call rests on. */
export interface GatePermissions {
  policy(): PolicyRules;
  /** The part of the policy that no answer lifts. */
  prohibitions(): Prohibitions;
  /** A warning about rules that cannot be read; each one once. */
  warning(): string | undefined;
}

/**
 * Whether a question is put: as the policy says, always (a hook wants it, or the session's guard is away), or never (a
 * hook has approved the call). What rules deny is denied in every case.
 */
export type Asking = 'as the policy says' | 'always' | 'never';

/** What came of one question. */
export interface Permission {
  /** Why the call may not go on; absent when it may. */
  readonly refusal?: Refusal | undefined;
  /** It runs unasked because it only reads. */
  readonly isHardened?: boolean;
}

/** Judges what a call asks permission for, and asks users where the policy says so. */
export class CallPermissions {
  constructor(
    private readonly parts: {
      readonly log: AgentLog;
      readonly clock: Clock;
      readonly questions: Questions;
      readonly permissions: GatePermissions;
      toolEnvironment(): Pick<ToolEnvironment, 'unenforcedRules'>;
    },
  ) {}

  async seek(
    call: CallToRun,
    asked: PermissionQuestion,
    { asking, signal }: { readonly asking: Asking; readonly signal: AbortSignal },
  ): Promise<Permission> {
    const { log, clock, permissions, toolEnvironment } = this.parts;
    const { request, prompt } = asked;
    const permissionRequest = { ...request, toolCallId: call.toolCallId };
    const promptRequest = prompt ? { ...prompt, toolCallId: call.toolCallId } : promptFor(permissionRequest);
    const question = { requestId: clock.newId(), permissionRequest, promptRequest };
    const { cwd: workingDirectory } = log.session.context;
    const subject = await examine(asked, { toolName: call.name, workingDirectory });
    const unenforcedRules =
      request.kind === 'shell' ? await toolEnvironment().unenforcedRules?.() : undefined;
    const rules = { ...permissions.policy(), ...(unenforcedRules && { unenforcedRules }) };
    // mutation: the gate asks no judge
    const verdict = judge(subject, rules);
    // mutation: permission given before outlives a rule
    const isForbidden =
      verdict.type === 'deny' && (verdict.rule !== undefined || verdict.problem !== undefined);
    if (isForbidden) return { refusal: refusalBy(verdict) };
    if (call.granted?.some((granted) => isSameQuestion(granted, question))) return {};
    const isOutdated = asked.isChanged === true && verdict.isByApproval === true;
    if (isOutdated && !rules.canAsk) return { refusal: refusalBy(unaskable) };
    if (verdict.type === 'allow' && asking !== 'always' && !isOutdated)
      return { isHardened: verdict.isHardened ?? false };
    if (asking === 'never') return {};
    if (verdict.type === 'deny') return { refusal: refusalBy(verdict) };
    log.append({ type: 'permission.requested', data: question });
    return { refusal: await this.awaitDecision(call, question.requestId, signal) };
  }

  /** The same for what belongs to no turn: no turn would go on with its question, so it is not left open. */
  async seekAside(...asked: Parameters<CallPermissions['seek']>): Promise<Permission> {
    const { log } = this.parts;
    const [{ toolCallId }] = asked;
    try {
      return await this.seek(...asked);
    } catch (error) {
      const left = log.latest.questions.find((each) => each.toolCallId === toolCallId);
      const result = { kind: 'cancelled' as const, reason: 'Who asked is gone' };
      if (left)
        log.append({ type: 'permission.completed', data: { requestId: left.requestId, toolCallId, result } });
      throw error;
    }
  }

  /** Why rules forbid what a call asks for; undefined when they do not, whatever users would say. */
  async prohibition(call: CallToRun, asked: PermissionQuestion): Promise<Refusal | undefined> {
    const { log, permissions } = this.parts;
    const { cwd: workingDirectory } = log.session.context;
    const subject = await examine(asked, { toolName: call.name, workingDirectory });
    const verdict = forbid(subject, permissions.prohibitions());
    return verdict && refusalBy(verdict);
  }

  /** Waits for the decision on a question that was asked. */
  awaitDecision(call: CallToRun, requestId: string, signal: AbortSignal): Promise<Refusal | undefined> {
    const { log, questions } = this.parts;
    const settle = (result: Answers['permission']): Refusal | undefined => {
      const data = { requestId, toolCallId: call.toolCallId, result };
      log.append({ type: 'permission.completed', data });
      return refusalOf(result);
    };
    return questions.ask({ kind: 'permission', requestId }, settle, signal);
  }
}

const unaskable: Verdict = {
  type: 'deny',
  because: 'Its description has changed since it was approved, and no client is there to ask.',
};

/** What rules forbid ends before a tool has looked at anything; throws Forbidden. */
export function requireNotForbidden(
  subject: Subject,
  { log, permissions }: { readonly log: AgentLog; readonly permissions: GatePermissions },
): void {
  const verdict = forbid(subject, permissions.prohibitions());
  if (!verdict) return;
  log.append(...ruleWarning(permissions));
  throw new Forbidden(verdict);
}

/** Clients learn at once that rules they rely on cannot be read. */
export function ruleWarning(permissions: Pick<GatePermissions, 'warning'>): Draft[] {
  const message = permissions.warning();
  if (message === undefined) return [];
  return [{ type: 'session.warning', data: { warningType: 'permissions', message } }];
}

/**
 * A client that came back may describe its tool in other words. The prompt counts too: permission for a place is not
 * permission to read what is there, though both ask by the same request.
 */
function isSameQuestion(
  granted: EventData<'permission.requested'>,
  asked: EventData<'permission.requested'>,
): boolean {
  const plain = ({ permissionRequest, promptRequest }: EventData<'permission.requested'>) =>
    JSON.parse(JSON.stringify([{ ...permissionRequest, toolDescription: '' }, promptRequest?.kind]));
  return isDeepStrictEqual(plain(granted), plain(asked));
}

function promptFor(request: PermissionRequest): EventData<'permission.requested'>['promptRequest'] {
  if (request.kind !== 'shell') return request;
  const { fullCommandText, intention, commands, canOfferSessionApproval, warning, toolCallId } = request;
  return {
    kind: 'commands',
    fullCommandText,
    intention,
    commandIdentifiers: commands.map((command) => command.identifier),
    canOfferSessionApproval,
    ...(warning !== undefined && { warning }),
    ...(toolCallId !== undefined && { toolCallId }),
  };
}
