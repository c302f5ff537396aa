import { type Methods, type Result, withoutNulls } from '@groundcrew/protocol';
import type { Decision } from '@groundcrew/runtime';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Names =
  | 'session.permissions.handlePendingPermissionRequest'
  | 'session.permissions.pendingRequests'
  | 'session.permissions.setApproveAll';
type PendingRequests = Result<Methods['session.permissions.pendingRequests']>;

export const sessionPermissionsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.permissions.handlePendingPermissionRequest'({ sessionId, requestId, result }, context) {
    const session = findSession('session.permissions.handlePendingPermissionRequest', sessionId, context);
    return { success: await session.answerPermission(requestId, withoutNulls(result) as Decision) };
  },
  async 'session.permissions.pendingRequests'({ sessionId }, context) {
    const { questions } = await findSession(
      'session.permissions.pendingRequests',
      sessionId,
      context,
    ).state();
    const items = questions.flatMap((question) =>
      question.kind === 'permission'
        ? [
            {
              requestId: question.requestId,
              request: question.event.promptRequest ?? question.event.permissionRequest,
            },
          ]
        : [],
    );
    return { items } as PendingRequests;
  },
  async 'session.permissions.setApproveAll'({ sessionId, enabled }, context) {
    findSession('session.permissions.setApproveAll', sessionId, context).setApproveAll(enabled);
    return { success: true };
  },
};
