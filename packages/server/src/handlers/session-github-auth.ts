import type { Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.gitHubAuth.${string}`>;

export const sessionGitHubAuthHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.gitHubAuth.getStatus'(_params, { session, environment }) {
    const { gitHubToken, gitHubUser } = session.currentSettings;
    if (gitHubUser) {
      const { type, host, login } = gitHubUser;
      const found = gitHubToken === undefined ? undefined : await environment.gitHub?.status(gitHubToken);
      const name = login ?? found?.login;
      return {
        ...found,
        isAuthenticated: true,
        authType: type,
        host,
        statusMessage: name ?? `${host} (via ${type})`,
        ...(name !== undefined && { login: name }),
      };
    }
    return (await environment.gitHub?.status(gitHubToken)) ?? { isAuthenticated: false };
  },
  async 'session.gitHubAuth.setCredentials'({ credentials }, { session, runtime, environment }) {
    if (!credentials) return { success: true };
    const { type, host, login } = credentials;
    if (!accepted.includes(type))
      throw new Refusal(`Credentials of the type '${type}' are not taken; ${accepted.join(', ')} are.`);
    const stored = login === undefined ? undefined : environment.accounts?.tokenOf({ host, login });
    const token = credentials.token ?? stored;
    if (token === undefined && type !== 'user')
      throw new Refusal(`Credentials of the type '${type}' need a token`);
    await runtime.change(session, ({ gitHubToken: _, ...before }) => ({
      ...before,
      gitHubUser: { type, host, ...(login !== undefined && { login }) },
      ...(token !== undefined && { gitHubToken: token }),
    }));
    if (token !== undefined) return { success: true, copilotUserResolved: true };
    const message = `The session has the name of ${login ?? host} but no token of it: calls that need one go without.`;
    await session.record({ type: 'session.warning', data: { warningType: 'authentication', message } });
    return { success: true, copilotUserResolved: false };
  },
};

const accepted: readonly string[] = ['user', 'token', 'env', 'gh-cli'];
