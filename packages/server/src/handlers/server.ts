import { type Methods, protocolVersion } from '@groundcrew/protocol';
import type { Handlers } from '../handler.js';

type Names = 'auth.getStatus' | 'connect' | 'ping' | 'status.get' | 'models.list' | 'runtime.shutdown';

export const serverHandlers: Handlers<Pick<Methods, Names>> = {
  async connect(_params, { client, environment }) {
    client.hasConnected = true;
    return { ok: true, protocolVersion, version: environment.version };
  },
  async ping({ message }, { client }) {
    const now = new Date();
    return {
      message: message === undefined ? 'pong' : `pong: ${message}`,
      timestamp: client.hasConnected ? now.toISOString() : now.getTime(),
      protocolVersion,
    };
  },
  async 'status.get'(_params, { environment }) {
    return { version: environment.version, protocolVersion };
  },
  async 'auth.getStatus'(_params, { environment }) {
    return environment.authStatus();
  },
  async 'models.list'({ gitHubToken }, { environment }) {
    return { models: await environment.listModels(gitHubToken === undefined ? {} : { gitHubToken }) };
  },
  async 'runtime.shutdown'(_params, { environment }) {
    await environment.shutdown();
    return null;
  },
};
