import { type Methods, protocolVersion } from '@groundcrew/protocol';
import type { Handlers } from '../handler.js';

type Names = 'auth.getStatus' | 'connect' | 'ping' | 'status.get' | 'models.list' | 'runtime.shutdown';

export const serverHandlers: Handlers<Pick<Methods, Names>> = {
  async connect(_params, { client, surroundings }) {
    client.hasConnected = true;
    return { ok: true, protocolVersion, version: surroundings.version };
  },
  async ping({ message }, { client }) {
    const now = new Date();
    return {
      message: message === undefined ? 'pong' : `pong: ${message}`,
      timestamp: client.hasConnected ? now.toISOString() : now.getTime(),
      protocolVersion,
    };
  },
  async 'status.get'(_params, { surroundings }) {
    return { version: surroundings.version, protocolVersion };
  },
  async 'auth.getStatus'(_params, { surroundings }) {
    return surroundings.authStatus();
  },
  async 'models.list'({ gitHubToken }, { surroundings }) {
    return { models: await surroundings.listModels(gitHubToken === undefined ? {} : { gitHubToken }) };
  },
  async 'runtime.shutdown'(_params, { surroundings }) {
    await surroundings.shutDown();
    return null;
  },
};
