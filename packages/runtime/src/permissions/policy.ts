import type { PermissionRequest } from '../tools/tool.js';

export type Verdict = 'allow' | 'ask' | 'deny';

export interface PolicyRules {
  /** What people approved for the rest of the session. */
  readonly approvals: readonly Readonly<Record<string, unknown>>[];
  readonly approvesAll: boolean;
  /** Somebody is there to answer. */
  readonly canAsk: boolean;
}

/** Whether a call may run, without asking, after asking, or not at all. Pure. */
export function judge(request: PermissionRequest, rules: PolicyRules): Verdict {
  if (rules.approvesAll) return 'allow';
  if (rules.approvals.some((approval) => covers(approval, request))) return 'allow';
  return rules.canAsk ? 'ask' : 'deny';
}

function covers(approval: Readonly<Record<string, unknown>>, request: PermissionRequest): boolean {
  switch (request.kind) {
    case 'custom-tool':
      return approval.kind === 'custom-tool' && approval.toolName === request.toolName;
    case 'mcp':
      return (
        approval.kind === 'mcp' &&
        approval.serverName === request.serverName &&
        (approval.toolName === undefined ||
          approval.toolName === null ||
          approval.toolName === request.toolName)
      );
    case 'read':
    case 'write':
    case 'memory':
      return approval.kind === request.kind;
    default:
      return false;
  }
}
