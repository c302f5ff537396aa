import type { Methods } from '@groundcrew/protocol';
import { Runtime } from '@groundcrew/runtime';
import type { Handlers } from '../handler.js';

type Names =
  | 'auth.getStatus'
  | 'commands.list'
  | 'connect'
  | 'ping'
  | 'status.get'
  | 'models.list'
  | 'runtime.shutdown';

export const serverHandlers: Handlers<Pick<Methods, Names>> = {
  async connect({ enableGitHubTelemetryForwarding, clientInfo }, { client, environment }) {
    client.dialect.connected({ clientInfo });
    client.movesOn = clientInfo?.name === 'groundcrew-sdk';
    if (enableGitHubTelemetryForwarding !== undefined)
      client.wantsTelemetry = enableGitHubTelemetryForwarding;
    return { ok: true, protocolVersion: client.dialect.protocol, version: environment.version };
  },
  async ping({ message }, { client }) {
    client.dialect.pinged();
    const now = new Date();
    return {
      message: message === undefined ? 'pong' : `pong: ${message}`,
      timestamp: client.dialect.readsTimeAsText ? now.toISOString() : now.getTime(),
      protocolVersion: client.dialect.protocol,
    };
  },
  async 'status.get'(_params, { client, environment }) {
    return { version: environment.version, protocolVersion: client.dialect.protocol };
  },
  async 'auth.getStatus'(_params, { environment }) {
    return environment.authStatus();
  },
  async 'commands.list'() {
    return { commands: Runtime.commands() };
  },
  async 'models.list'({ gitHubToken }, { environment }) {
    return { models: await environment.listModels(gitHubToken === undefined ? {} : { gitHubToken }) };
  },
  async 'runtime.shutdown'(_params, { environment }) {
    await environment.shutdown();
    return null;
  },
};
