import { liesIn } from '../workspace/paths.js';
import { addressCovers } from './addresses.js';
import { mayMatchDenyRule } from './command-rules.js';
import type { Definitions } from './definitions.js';
import type { TouchedPath } from './line-dependencies.js';
import type { PermissionRequest } from './question.js';
import { describeRule, isAllowed, isForbidden, type Rule } from './rules.js';
import { type Subject, toolSubject } from './subject.js';
import { reachableRule } from './unenforced-rules.js';

/** Who answers questions: users, users but for what certainly only reads, or no one. */
export type PermissionMode = 'manual' | 'assisted' | 'allow-all';

/** What users approved for the rest of the session, or for good in a place. */
export type Approval = Readonly<Record<string, unknown>>;

/** What becomes of a call, and why. */
export interface Verdict {
  readonly type: 'allow' | 'ask' | 'deny';
  /** A sentence for users. */
  readonly because: string;
  /** The rule that decided it. */
  readonly rule?: Rule;
  /** The rules could not be read; nothing runs until they can. */
  readonly problem?: string;
  /** How to allow it, for users who read that it was denied. */
  readonly hint?: string;
  /** It runs unasked because it only reads: nothing that its place can configure is to take part. */
  readonly isHardened?: boolean;
  /** An approval of before allows it, and no rule or mode. */
  readonly isByApproval?: boolean;
}

/** A call that rules forbid, whatever users say. */
export class Forbidden extends Error {
  override readonly name = 'Forbidden';

  constructor(readonly verdict: Verdict) {
    super(verdict.because);
  }
}

/** What nothing else can permit. */
export interface Prohibitions {
  readonly deny: readonly Rule[];
  /** Why the user's own rules could not be read. */
  readonly problem?: string;
}

/** What runs unasked in a session that has no client to ask. */
export interface UnaskedCalls {
  /** Calls that only read, and only in the allowed directories; or every call that no rule denies. */
  readonly type: 'reads' | 'all';
  /** How to allow more, for users who read that a call was denied. */
  readonly hint: string;
}

/** Everything a verdict rests on besides the subject itself. Plain data: the same gives the same verdict. */
export interface PolicyRules extends Prohibitions {
  readonly allow: readonly Rule[];
  readonly approvals: readonly Approval[];
  readonly mode: PermissionMode;
  /** Switches that a client has set for as long as the session is open. */
  readonly approvesAll: boolean;
  readonly approvesReads: boolean;
  readonly allowsAnyPath: boolean;
  readonly allowsAnyUrl: boolean;
  /** A client is there to answer. */
  readonly canAsk: boolean;
  /** What runs while no client is; nothing that needs permission without it. */
  readonly unasked?: UnaskedCalls;
  /** Where approvals lead: the allowed directories, as named and as they really are. */
  readonly directories: readonly string[];
  /** The runtime's own home, as it really is; no part of directories around it. */
  readonly home?: string;
  /** Deny rules for paths that no sandbox enforces while a command runs. */
  readonly unenforcedRules?: readonly Rule[];
}

/** Whether a call may run without asking, after asking, or not at all. Pure: deny, then allow, else ask. */
export function judge(subject: Subject, rules: PolicyRules): Verdict {
  const forbidden = forbid(subject, rules);
  if (forbidden) return forbidden;
  const open = reachableRule(subject, rules.unenforcedRules ?? []);
  if (open) return uncertain(open, rules);
  const reason = reasonToAllow(subject, rules);
  if (reason) return { type: 'allow', ...reason };
  const { risks } = subject;
  const because = [
    'No rule and no approval covers it.',
    ...risks.map((risk) => `In this place ${risk}.`),
  ].join(' ');
  if (rules.canAsk) return { type: 'ask', because };
  // mutation: what no client can be asked about is allowed
  const { hint } = rules.unasked ?? {};
  return {
    type: 'deny',
    because: 'No rule allows it, and no client is there to ask.',
    ...(hint !== undefined && { hint }),
  };
}

/** A client decides about a command that no sandbox keeps from a denied path. */
function uncertain(open: Rule, { canAsk }: PolicyRules): Verdict {
  const because = `The rule ${describeRule(open)} denies a path that this command could touch, and no sandbox holds it.`;
  return canAsk
    ? { type: 'ask', because }
    : { type: 'deny', because: `${because} No client is there to ask.` };
}

/** A prohibition that nothing lifts: neither a mode nor an approval, a hook or the person who asks for it. */
export function forbid(subject: Subject, { deny, problem }: Prohibitions): Verdict | undefined {
  if (problem !== undefined) return { type: 'deny', because: problem, problem };
  // mutation: rules that deny are not asked
  const rule = deny.find((each) => isForbidden(subject, each));
  return rule && { type: 'deny', because: `The rule ${describeRule(rule)} denies it.`, rule };
}

type Reason = Pick<Verdict, 'because' | 'rule' | 'isHardened' | 'isByApproval'>;

function reasonToAllow(subject: Subject, rules: PolicyRules): Reason | undefined {
  if (subject.request === undefined) return { because: 'It needs no permission.' };
  if (subject.request.kind === 'mcp' && subject.request.readOnly)
    return { because: 'Its server is trusted, and says that it only reads.' };
  const isAllApproved = rules.approvesAll || rules.mode === 'allow-all';
  if (isAllApproved && !mayHideForbidden(subject, rules))
    return { because: 'Everything is approved in this session.' };
  const rule = rules.allow.find((each) => isAllowed(subject, each) && staysInside(subject, each, rules));
  const hardened = onlyReads(subject) && { isHardened: true };
  if (rule) return { because: `The rule ${describeRule(rule)} allows it.`, rule, ...hardened };
  if (isSwitchedOn(subject, rules)) return { because: 'Such calls are approved in this session.' };
  if (isApproved(subject, rules))
    return { because: 'It was approved before.', isByApproval: true, ...hardened };
  if (rules.mode === 'assisted' && onlyReadsInside(subject, rules))
    return { because: 'It only reads, and only in the allowed directories.', ...hardened };
  return rules.canAsk ? undefined : reasonUnasked(subject, rules);
}

/** What runs though no user can be asked, because the client of the session has no way to be. */
function reasonUnasked(subject: Subject, rules: PolicyRules): Reason | undefined {
  if (rules.unasked?.type === 'all' && !mayHideForbidden(subject, rules))
    return { because: 'This runtime allows all calls of clients that cannot be asked.' };
  const isLocal = subject.request?.kind !== 'mcp';
  if (rules.unasked && isLocal && onlyReadsInside(subject, rules))
    return {
      because: 'It only reads, and only in the allowed directories.',
      ...(onlyReads(subject) && { isHardened: true }),
    };
  return undefined;
}

/** Where some commands are forbidden, one that only a run would distinguish from them is never allowed unasked. */
function mayHideForbidden({ hidesCommands, commands, isUnread }: Subject, { deny }: PolicyRules): boolean {
  return deny.some(({ kind, argument }) => {
    if (isUnread && kind !== 'tool') return true;
    if (!commandKinds.has(kind) || argument === null) return false;
    return hidesCommands || commands.some((command) => mayMatchDenyRule(command, argument));
  });
}

const commandKinds: ReadonlySet<string> = new Set(['shell', 'commands', 'bash', 'powershell']);

/** A rule that names commands does not lead out of the directories; one for a tool, or for all commands, does. */
function staysInside(subject: Subject, { kind, argument }: Rule, rules: PolicyRules): boolean {
  if (subject.request?.kind !== 'shell' || argument === null || kind === 'tool') return true;
  return subject.paths.every((path) => isInside(path, rules) || isAllowedPath(path, subject, rules));
}

function isAllowedPath(path: TouchedPath, subject: Subject, { allow }: PolicyRules): boolean {
  const { workingDirectory } = subject;
  const request = { kind: 'read' as const, intention: '', path: path.written };
  const alone = { ...toolSubject({ workingDirectory }), request, paths: [path] };
  return allow.some((rule) => rule.kind === 'path' && isAllowed(alone, rule));
}

function isInside({ names }: TouchedPath, rules: PolicyRules): boolean {
  if (names.length === 0) return false;
  return rules.allowsAnyPath || names.every((name) => liesIn(name, rules));
}

function isSwitchedOn({ request, prompt }: Subject, rules: PolicyRules): boolean {
  if (prompt?.kind === 'path') return rules.allowsAnyPath;
  if (request?.kind === 'read') return rules.approvesReads;
  return request?.kind === 'url' && rules.allowsAnyUrl;
}

/** A place outside the allowed directories is a question of its own that no approval for reading or writing answers. */
function isApproved(subject: Subject, rules: PolicyRules): boolean {
  const { request, prompt } = subject;
  if (request === undefined || prompt?.kind === 'path') return false;
  if (request.kind === 'shell') return areCommandsApproved(subject, rules);
  return rules.approvals.some((approval) => covers(approval, request, subject.definitions));
}

/** Every command must have been approved, the text must say all that would run, and it must stay where it may. */
function areCommandsApproved(subject: Subject, rules: PolicyRules): boolean {
  const { request, paths, risks } = subject;
  if (request?.kind !== 'shell') return false;
  if (risks.length > 0) return false;
  const approved = new Set(rules.approvals.flatMap((approval) => identifiersOf(approval, subject)));
  // Who approved the whole text has seen all of it.
  if (approved.has(request.fullCommandText)) return true;
  if (!request.canOfferSessionApproval) return false;
  if (!request.commands.every(({ identifier }) => approved.has(identifier))) return false;
  return paths.every((path) => isInside(path, rules));
}

/** The names that an approval holds for: not those whose scripts, targets or hooks are others by now. */
function identifiersOf(
  { kind, commandIdentifiers, definitions: approved }: Approval,
  { definitions: now, request }: Subject,
): readonly unknown[] {
  if (kind !== 'commands' || !Array.isArray(commandIdentifiers)) return [];
  const text = request?.kind === 'shell' ? request.fullCommandText : '';
  return commandIdentifiers.filter((name) => isStillSo(approved, String(name), { now, text }));
}

function covers(approval: Approval, request: PermissionRequest, now: Subject['definitions']): boolean {
  if (approval.kind !== request.kind) return false;
  switch (request.kind) {
    case 'read':
    case 'write':
    case 'memory':
      return true;
    case 'custom-tool':
      return approval.toolName === request.toolName;
    case 'mcp':
      return (
        approval.serverName === request.serverName &&
        (approval.toolName ?? request.toolName) === request.toolName &&
        isStillSo(approval.definitions, request.toolName, { now, text: '' })
      );
    case 'url':
      return typeof approval.domain === 'string' && addressCovers(approval.domain, request.url);
    default:
      return false;
  }
}

/** Whether what an approval was given for is still what would run; one of a whole text is for all that runs by it. */
function isStillSo(
  approved: unknown,
  name: string,
  { now, text }: { readonly now: Definitions; readonly text: string },
): boolean {
  if (typeof approved !== 'object' || approved === null) return true;
  const before = approved as Definitions;
  const names = name === text ? Object.keys(before) : [name].filter((each) => Object.hasOwn(before, each));
  return names.every((each) => before[each] === now[each]);
}

/** Whether a call certainly changes nothing and reads only inside allowed directories; false when it is not fully understood. */
function onlyReadsInside(subject: Subject, rules: PolicyRules): boolean {
  const { request, prompt, paths } = subject;
  if (prompt?.kind === 'path') return false;
  if (request?.kind === 'read') return true;
  if (request?.kind === 'mcp') return request.readOnly;
  return onlyReads(subject) && paths.every((path) => isInside(path, rules));
}

/** A command whose text is understood, and that changes nothing here. */
export function onlyReads({ request, risks }: Subject): boolean {
  if (request?.kind !== 'shell' || !request.canOfferSessionApproval || risks.length > 0) return false;
  return request.commands.every(({ readOnly }) => readOnly);
}
