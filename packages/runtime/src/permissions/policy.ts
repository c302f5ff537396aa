import type { PermissionQuestion, PermissionRequest } from '../tools/tool.js';
import { isAllowed, isForbidden, isOfDomain, isWithin, type Rule } from './rules.js';

/** What becomes of a call, and why. */
export interface Verdict {
  readonly type: 'allow' | 'ask' | 'deny';
  /** A sentence for people. */
  readonly because: string;
  /** The rule that decided it. */
  readonly rule?: Rule;
}

/** Everything a verdict rests on besides the question itself. */
export interface PolicyRules {
  readonly deny?: readonly Rule[];
  readonly allow?: readonly Rule[];
  /** What people approved for the rest of the session, or for good in this place. */
  readonly approvals: readonly Readonly<Record<string, unknown>>[];
  readonly approvesAll: boolean;
  /** Somebody is there to answer. */
  readonly canAsk: boolean;
  /** The working directory, then others that approvals extend to. */
  readonly directories?: readonly string[];
}

/** Whether a call may run without asking, after asking, or not at all. Pure: deny, then allow, else ask. */
export function judge(question: PermissionQuestion, rules: PolicyRules): Verdict {
  const { deny = [], allow = [], approvals, directories = [] } = rules;
  const [workingDirectory = '/'] = directories;
  const forbidding = deny.find((rule) => isForbidden(question, { rule, workingDirectory }));
  if (forbidding) return { type: 'deny', because: `${said(forbidding)} denies it.`, rule: forbidding };
  if (rules.approvesAll) return { type: 'allow', because: 'Everything is approved in this session.' };
  const allowing = allow.find((rule) => isAllowed(question, { rule, workingDirectory }));
  if (allowing) return { type: 'allow', because: `${said(allowing)} allows it.`, rule: allowing };
  if (isApproved(question, approvals, directories))
    return { type: 'allow', because: 'It was approved before.' };
  if (rules.canAsk) return { type: 'ask', because: 'No rule and no approval covers it.' };
  return { type: 'deny', because: 'No rule allows it, and nobody is there to be asked.' };
}

type Approvals = PolicyRules['approvals'];

/** A place outside the allowed directories is a question of its own that no approval for reading or writing answers. */
function isApproved(
  { request, prompt }: PermissionQuestion,
  approvals: Approvals,
  directories: readonly string[],
): boolean {
  if (prompt?.kind === 'path') return false;
  if (request.kind === 'shell') return areCommandsApproved(request, approvals, directories);
  return approvals.some((approval) => covers(approval, request));
}

/** Every command must have been approved, the text must say all that would run, and it must stay where it may. */
function areCommandsApproved(
  request: Extract<PermissionRequest, { kind: 'shell' }>,
  approvals: Approvals,
  directories: readonly string[],
): boolean {
  if (!request.canOfferSessionApproval || request.commands.length === 0) return false;
  const approved = new Set(approvals.flatMap(identifiersOf));
  if (!request.commands.every(({ identifier }) => approved.has(identifier))) return false;
  const [workingDirectory = '/'] = directories;
  return request.possiblePaths.every((path) =>
    directories.some((directory) => isWithin(path, directory, workingDirectory)),
  );
}

function identifiersOf(approval: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { kind, commandIdentifiers } = approval;
  return kind === 'commands' && Array.isArray(commandIdentifiers) ? commandIdentifiers : [];
}

function covers(approval: Readonly<Record<string, unknown>>, request: PermissionRequest): boolean {
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
        (approval.toolName ?? request.toolName) === request.toolName
      );
    case 'url':
      return typeof approval.domain === 'string' && isOfDomain(request.url, approval.domain);
    default:
      return false;
  }
}

function said({ kind, argument }: Rule): string {
  return argument === null ? `The rule ${kind}` : `The rule ${kind}(${argument})`;
}
