import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

export const sessionGitHubAuthHandlers: SessionHandlers<Pick<Methods, 'session.gitHubAuth.getStatus'>> = {
  async 'session.gitHubAuth.getStatus'(_params, { session, environment }) {
    const { gitHubToken } = session.currentSettings;
    return (await environment.gitHub?.status(gitHubToken)) ?? { isAuthenticated: false };
  },
};
