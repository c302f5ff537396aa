import type { Methods } from '@groundcrew/protocol';
import type { Handlers } from '../handler.js';

export const accountHandlers: Handlers<Pick<Methods, 'account.getQuota'>> = {
  async 'account.getQuota'({ gitHubToken }, { environment }) {
    return { quotaSnapshots: (await environment.gitHub?.quota(gitHubToken)) ?? {} };
  },
};
