import type { Approval, EventData, PermissionRequest } from '@groundcrew/protocol';
import type { PermissionRequestResult } from './permission.js';

/** One way to answer a question for permission. */
export interface PermissionChoice {
  /** How far it reaches: this call, the very text of a command, this session, every session of the place, or not at all. */
  readonly scope: 'once' | 'text' | 'session' | 'always' | 'deny';
  /** What users read. Words of the call are in it as they stand: show by their codes what a screen would not show. */
  readonly label: string;
  /** What else than this call it approves. */
  readonly covers?: string;
  /** The answer. A denial without words: put the user's reason in its `feedback`. */
  readonly result: PermissionRequestResult;
}

/** The question that `permission.requested` asks. */
type Asked = Pick<EventData<'permission.requested'>, 'permissionRequest' | 'promptRequest'>;

/**
 * What a user can say to a question for permission: the terminal, the page and editors offer these.
 * What is always allowed is kept under `locationKey`, which `session.permissions.locations.resolve` returns.
 */
export function permissionChoices(asked: Asked, locationKey: string): readonly PermissionChoice[] {
  return [
    { scope: 'once', label: 'Yes, once', result: { kind: 'approve-once' } },
    ...longer(asked, locationKey),
    { scope: 'deny', label: 'No', result: { kind: 'reject', feedback: 'No.' } },
  ];
}

function longer(
  { permissionRequest: request, promptRequest }: Asked,
  locationKey: string,
): readonly PermissionChoice[] {
  // Permission for a place outside is for this time.
  if (promptRequest?.kind === 'path') return [];
  if (request.kind === 'url') return forHost(request.url);
  const approval = approvalFor(request);
  if (!approval) return [];
  const alone = textAlone(request);
  const covers = alone ? `any use of ${described(approval)}` : described(approval);
  return [
    ...(alone
      ? [
          {
            scope: 'text',
            label: 'Yes, this text alone in this session',
            result: { kind: 'approve-for-session', approval: alone },
          } as const,
        ]
      : []),
    {
      scope: 'session',
      label: `Yes, in this session (${covers})`,
      covers,
      result: { kind: 'approve-for-session', approval },
    },
    {
      scope: 'always',
      label: `Yes, always in this project (${covers})`,
      covers,
      result: { kind: 'approve-for-location', approval, locationKey },
    },
  ];
}

/** A host is approved, wherever its address is fetched from. */
function forHost(url: string): readonly PermissionChoice[] {
  const domain = URL.canParse(url) ? new URL(url).host : '';
  if (domain === '') return [];
  return [
    {
      scope: 'session',
      label: `Yes, in this session (${domain})`,
      covers: domain,
      result: { kind: 'approve-for-session', domain },
    },
    {
      scope: 'always',
      label: `Yes, always (${domain})`,
      covers: domain,
      result: { kind: 'approve-permanently', domain },
    },
  ];
}

/** What a yes for longer would cover; undefined where only this one call can be approved. */
function approvalFor(request: PermissionRequest): Approval | undefined {
  switch (request.kind) {
    case 'shell': {
      const commandIdentifiers = [...new Set(request.commands.map(({ identifier }) => identifier))];
      return request.canOfferSessionApproval && commandIdentifiers.length > 0
        ? { kind: 'commands', commandIdentifiers }
        : undefined;
    }
    case 'write':
      return request.canOfferSessionApproval ? { kind: 'write' } : undefined;
    case 'read':
    case 'memory':
      return { kind: request.kind };
    case 'mcp':
      return { kind: 'mcp', serverName: request.serverName, toolName: request.toolName };
    case 'custom-tool':
      return { kind: 'custom-tool', toolName: request.toolName };
    default:
      return undefined;
  }
}

/** A yes for this text and no other, where the name of a program would stand for any use of it. */
function textAlone(request: PermissionRequest): Approval | undefined {
  if (request.kind !== 'shell' || request.warning === undefined) return undefined;
  return { kind: 'commands', commandIdentifiers: [request.fullCommandText] };
}

function described(approval: Approval): string {
  switch (approval.kind) {
    case 'commands':
      return approval.commandIdentifiers.join(', ');
    case 'read':
      return 'reading files';
    case 'write':
      return 'writing files';
    case 'mcp':
    case 'custom-tool':
      return String(approval.toolName);
    default:
      return approval.kind;
  }
}
