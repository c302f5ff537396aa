import type { Methods, Result } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { CallContext, Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `account.${string}`>;

export const accountHandlers: Handlers<Pick<Methods, Names>> = {
  async 'account.getQuota'({ gitHubToken }, { environment }) {
    return { quotaSnapshots: (await environment.gitHub?.quota(gitHubToken)) ?? {} };
  },
  async 'account.getCurrentAuth'(_params, { environment }) {
    const { shown } = environment.accounts ?? {};
    return shown ? { authInfo: authInfoOf(shown) } : {};
  },
  async 'account.getAllUsers'(_params, { environment }) {
    const { accounts } = environment;
    return (accounts?.users() ?? []).map(({ host, login }) => {
      const token = accounts?.tokenOf({ host, login });
      return { authInfo: { type: 'user', host, login }, ...(token !== undefined && { token }) };
    });
  },
  async 'account.login'({ host, login, token }, context) {
    if (token.trim() === '') throw new Refusal('The token is empty');
    await accountsOf(context).login({ host, token, ...(login !== undefined && { login }) });
    return { storedInVault: false };
  },
  async 'account.logout'({ authInfo: { type, host, login } }, context) {
    if (type !== 'user' || login === undefined)
      throw new Refusal('Only a user who logged in can be logged out: a token of the environment stays.');
    return { hasMoreUsers: await accountsOf(context).logout({ host, login }) };
  },
};

function accountsOf({ environment }: CallContext) {
  if (!environment.accounts) throw new Refusal('This runtime keeps no accounts.');
  return environment.accounts;
}

type Shown = NonNullable<NonNullable<CallContext['environment']['accounts']>['shown']>;

function authInfoOf({
  source,
  host = 'https://github.com',
  login,
}: Shown): NonNullable<Result<Methods['account.getCurrentAuth']>['authInfo']> {
  return {
    type: source,
    host,
    ...(login !== undefined && { login }),
    ...(source !== 'user' && { token: '[redacted]' }),
    ...(source === 'env' && { envVar: 'GITHUB_TOKEN' }),
  };
}
