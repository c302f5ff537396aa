import { expect, test } from 'vitest';
import { commandEnvironment } from './environment.js';

const environment = {
  PATH: '/bin',
  HOME: '/home/me',
  AWS_REGION: 'here',
  GROUNDCREW_HOME: '/home/me/.groundcrew',
  COPILOT_HOME: '/home/me/.copilot',
};

test('commands get the environment of the user and none of the secrets of the runtime', () => {
  const secrets = {
    GH_TOKEN: 'secret',
    GITHUB_TOKEN: 'secret',
    OPENAI_API_KEY: 'secret',
    ANTHROPIC_API_KEY: 'secret',
    AZURE_OPENAI_API_KEY: 'secret',
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
  expect(commandEnvironment({ ...environment, ...secrets, UNSET: undefined })).toEqual(environment);
});

test('commands know the proxy, and not the password of its user', () => {
  const proxies = {
    HTTPS_PROXY: 'http://me:p%40ss@proxy.example:3128/',
    http_proxy: 'me:p@ss/w@proxy.example:3128',
    ALL_PROXY: 'socks5://proxy.example:1080',
    npm_config_https_proxy: 'HTTP://me@proxy.example',
    NO_PROXY: 'localhost,me@home',
  };
  expect(commandEnvironment(proxies)).toEqual({
    HTTPS_PROXY: 'http://proxy.example:3128/',
    http_proxy: 'proxy.example:3128',
    ALL_PROXY: 'socks5://proxy.example:1080',
    npm_config_https_proxy: 'HTTP://proxy.example',
    NO_PROXY: 'localhost,me@home',
  });
  expect(commandEnvironment({ ...proxies, GROUNDCREW_SHELL_ENV: 'HTTPS_PROXY' })).toMatchObject({
    HTTPS_PROXY: proxies.HTTPS_PROXY,
  });
});

test('a secret that the operator names is handed on', () => {
  const own = { ...environment, GROUNDCREW_SHELL_ENV: 'GH_TOKEN, OTHER' };
  expect(commandEnvironment({ ...own, GH_TOKEN: 'mine', GITHUB_TOKEN: 'mine' })).toEqual({
    ...own,
    GH_TOKEN: 'mine',
  });
});
