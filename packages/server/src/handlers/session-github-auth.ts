import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

export const sessionGitHubAuthHandlers: SessionHandlers<Pick<Methods, 'session.gitHubAuth.getStatus'>> = {
  async 'session.gitHubAuth.getStatus'(_params, { session, surroundings }) {
    const { gitHubToken } = session.currentSettings;
    return (await surroundings.gitHub?.status(gitHubToken)) ?? { isAuthenticated: false };
  },
};
