import type { Methods } from '@groundcrew/protocol';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

export const sessionGitHubAuthHandlers: Handlers<Pick<Methods, 'session.gitHubAuth.getStatus'>> = {
  async 'session.gitHubAuth.getStatus'({ sessionId }, context) {
    const { gitHubToken } = findSession('session.gitHubAuth.getStatus', sessionId, context).currentSettings;
    return (await context.environment.gitHub?.status(gitHubToken)) ?? { isAuthenticated: false };
  },
};
