import { errorCodes, type Methods } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import { Refusal } from '../failure.js';
import type { Handlers } from '../handler.js';

type Names =
  | 'agentRegistry.spawn'
  | 'secrets.addFilterValues'
  | 'user.settings.get'
  | 'user.settings.reload'
  | 'user.settings.set';

export const hostHandlers: Handlers<Pick<Methods, Names>> = {
  async 'agentRegistry.spawn'() {
    throw new RpcError(errorCodes.methodNotFound, 'agentRegistry.spawn is not enabled on this server');
  },
  async 'secrets.addFilterValues'({ values }, { environment }) {
    if (!environment.addSecrets) {
      throw new Refusal(
        'addFilterValues is only supported in single-tenant environments. Set an environment variable of COPILOT_ENABLE_SECRET_FILTERING=true to enable it.',
      );
    }
    environment.addSecrets(values);
    return { ok: true };
  },
  async 'user.settings.get'(_params, { environment }) {
    return { settings: (await environment.userSettings?.read()) ?? {} };
  },
  async 'user.settings.reload'() {
    return null;
  },
  async 'user.settings.set'({ settings }, { environment }) {
    if (!environment.userSettings) throw new Refusal('This runtime has no settings of a user.');
    return { shadowedKeys: [...(await environment.userSettings.change(settings))] };
  },
};
