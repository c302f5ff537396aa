import type { Methods, Result } from '@groundcrew/protocol';
import type { SessionSummary } from '@groundcrew/store';

/** What lists say of a session. */
export function metadataOf({
  sessionId,
  head,
}: SessionSummary): NonNullable<Result<Methods['session.getMetadata']>['session']> {
  const name = head.name ?? head.summary;
  return {
    sessionId,
    startTime: head.createdAt,
    modifiedTime: head.modifiedAt,
    isRemote: false,
    isDetached: false,
    clientName: head.clientName ?? 'sdk',
    context: head.context,
    ...(name !== undefined && { name, summary: name }),
  };
}
