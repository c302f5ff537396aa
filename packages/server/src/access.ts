import {
  errorCodes,
  failureCodes,
  type MethodName,
  neededRoles,
  type Role,
  suffices,
} from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import type { Runtime } from '@groundcrew/runtime';
import { failedText } from './failure.js';

/** The tenant, the role and the name of a connection's token. */
export interface Identity {
  readonly tenant: string;
  readonly role: Role;
  /** The name of its token, or the subject that its token names. */
  readonly subject: string;
}

/** The tenant that the machine's own user is: its admins may end the runtime. */
export const defaultTenant = 'default';

/** Of a connection on a port without tenants: all that shows the one token, or comes by stdio. */
export const localUser: Identity = { tenant: defaultTenant, role: 'admin', subject: 'local' };

/** What an audit keeps of one deed. Never a secret, a prompt or an answer's text. */
export interface AuditEntry {
  readonly event: 'denied' | 'approval' | 'delete' | 'quota';
  readonly method: string;
  readonly sessionId?: string;
  readonly detail?: string;
}

/** What looks on the requests of clients. */
export interface Access {
  /** The one tenant that this runtime serves; any without. A client that another node forwards must be one of its own. */
  readonly tenant?: string;
  audit(entry: AuditEntry, identity: Identity): void;
  /** Throws QuotaExceeded; what it returns is called when the request is answered. */
  admit?(request: AdmittedRequest, runtime: Runtime): Promise<(() => void) | undefined>;
}

/** A request that may take up a part of a quota. */
export interface AdmittedRequest {
  readonly method: MethodName;
  readonly params: unknown;
}

/** Throws the error that says which role a method needs, and has it audited. */
export function requireRole(
  method: MethodName,
  params: unknown,
  { identity, access }: { readonly identity: Identity; readonly access: Access | undefined },
): void {
  const needed = neededRoles[method];
  const isOperator = identity.role === 'admin' && identity.tenant === defaultTenant;
  if (suffices(isOperator ? 'operator' : identity.role, needed)) return;
  access?.audit({ event: 'denied', method, ...sessionIn(params) }, identity);
  const text =
    needed === 'operator'
      ? `${method} is for the operator of this server`
      : `${method} needs the role ${needed}, and this client is ${identity.role}`;
  throw new RpcError(errorCodes.requestFailed, failedText(method, text), {
    code: 'forbidden',
    retryable: failureCodes.forbidden.retryable,
  });
}

/** Has an audit of what was approved or deleted. */
export function auditAnswer(
  { method, params }: AdmittedRequest,
  result: unknown,
  { identity, access }: { readonly identity: Identity; readonly access: Access | undefined },
): void {
  if (!access || !Object.hasOwn(audited, method)) return;
  const event = audited[method as keyof typeof audited];
  const { success } = (result ?? {}) as { readonly success?: unknown };
  const { dryRun } = (params ?? {}) as { readonly dryRun?: unknown };
  if (success === false || dryRun === true) return;
  const detail = detailOf(params, result);
  access.audit({ event, method, ...sessionIn(params), ...(detail !== undefined && { detail }) }, identity);
}

/** What approves, and what deletes. */
const audited = {
  'session.commands.handlePendingCommand': 'approval',
  'session.mcp.headers.handlePendingHeadersRefreshRequest': 'approval',
  'session.mcp.oauth.handlePendingRequest': 'approval',
  'session.permissions.configure': 'approval',
  'session.permissions.folderTrust.addTrusted': 'approval',
  'session.permissions.handlePendingPermissionRequest': 'approval',
  'session.permissions.locations.addToolApproval': 'approval',
  'session.permissions.locations.apply': 'approval',
  'session.permissions.modifyRules': 'approval',
  'session.permissions.paths.add': 'approval',
  'session.permissions.paths.updatePrimary': 'approval',
  'session.permissions.setApproveAll': 'approval',
  'session.permissions.setMode': 'approval',
  'session.permissions.urls.setUnrestrictedMode': 'approval',
  'session.permissions.setRequired': 'approval',
  'session.sandbox.disableForSession': 'approval',
  'session.sandbox.grantPathForRequest': 'approval',
  'session.tools.handlePendingToolCall': 'approval',
  'session.ui.handlePendingAutoModeSwitch': 'approval',
  'session.ui.handlePendingElicitation': 'approval',
  'session.ui.handlePendingExitPlanMode': 'approval',
  'session.ui.handlePendingSampling': 'approval',
  'session.ui.handlePendingSessionLimitsExhausted': 'approval',
  'session.ui.handlePendingUserInput': 'approval',
  'session.delete': 'delete',
  'sessions.bulkDelete': 'delete',
  'sessions.delete': 'delete',
  'sessions.pruneOld': 'delete',
} as const satisfies Partial<Record<MethodName, AuditEntry['event']>>;

/** The question that was answered and how, or the sessions that are gone; nothing that users wrote. */
function detailOf(params: unknown, answer: unknown): string | undefined {
  const { deleted } = (answer ?? {}) as { readonly deleted?: unknown };
  const { requestId, result, mode, sessionIds, enabled } = (params ?? {}) as Record<string, unknown>;
  const kind = (result as { readonly kind?: unknown } | undefined)?.kind;
  const ids = [sessionIds, deleted].flatMap((each) => (Array.isArray(each) ? each : []));
  const words = [requestId, kind, mode, enabled, ...ids];
  const said = words.filter((word) => typeof word === 'string' || typeof word === 'boolean').map(String);
  return said.length === 0 ? undefined : said.join(' ').slice(0, longestDetail);
}

const longestDetail = 2000;

function sessionIn(params: unknown): Pick<AuditEntry, 'sessionId'> {
  const { sessionId } = (params ?? {}) as { readonly sessionId?: unknown };
  return typeof sessionId === 'string' ? { sessionId: sessionId.slice(0, 200) } : {};
}
