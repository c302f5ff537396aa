import { expect, test } from 'vitest';
import { commandEnvironment } from './environment.js';

test('commands get the environment of the user and none of the secrets of the runtime', () => {
  const environment = {
    PATH: '/bin',
    HOME: '/home/me',
    GH_TOKEN: 'mine',
    OPENAI_API_KEY: 'mine',
    GROUNDCREW_HOME: '/home/me/.groundcrew',
    COPILOT_HOME: '/home/me/.copilot',
    UNSET: undefined,
    COPILOT_SDK_AUTH_TOKEN: 'secret',
    COPILOT_CONNECTION_TOKEN: 'secret',
    COPILOT_GITHUB_TOKEN: 'secret',
    COPILOT_TOKEN: 'secret',
    COPILOT_HMAC_KEY: 'secret',
    CAPI_HMAC_KEY: 'secret',
    GROUNDCREW_API_KEY: 'secret',
    GROUNDCREW_TOKEN: 'secret',
    GROUNDCREW_PROVIDER_SECRET: 'secret',
  };
  expect(commandEnvironment(environment)).toEqual({
    PATH: '/bin',
    HOME: '/home/me',
    GH_TOKEN: 'mine',
    OPENAI_API_KEY: 'mine',
    GROUNDCREW_HOME: '/home/me/.groundcrew',
    COPILOT_HOME: '/home/me/.copilot',
  });
});
