import type { Approval } from '@groundcrew/protocol';
import type { PermissionInvocation, PermissionRequest, Session } from '@groundcrew/sdk';

/** What a yes for the rest of the session would cover; undefined where only this one call can be approved. */
export function approvalFor(
  request: PermissionRequest,
  { promptRequest }: Pick<PermissionInvocation, 'promptRequest'>,
): Approval | undefined {
  // Permission for a place outside is for this time.
  if (promptRequest?.kind === 'path') return undefined;
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
export function textAlone(request: PermissionRequest): Approval | undefined {
  if (request.kind !== 'shell' || request.warning === undefined) return undefined;
  return { kind: 'commands', commandIdentifiers: [request.fullCommandText] };
}

/** What exactly that is, for users. */
export function describeApproval(approval: Approval): string {
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

/** The name under which the runtime keeps what is approved for a place: its repository, or the directory itself. */
export async function placeOf(session: Session | undefined, workingDirectory: string): Promise<string> {
  const found = await session?.call('session.permissions.locations.resolve', { workingDirectory });
  return found?.locationKey ?? workingDirectory;
}
