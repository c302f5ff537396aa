import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

test('commands see neither what headers of services are made of nor the password of a proxy', async () => {
  const home = join(runtime.home.path, 'with-settings');
  mkdirSync(home);
  const headers = { 'X-Gateway': `\${GATEWAY_KEY}`, 'X-Stage': `\${STAGE:-dev}` };
  const provider = { baseUrl: 'http://127.0.0.1:1', headers };
  writeFileSync(join(home, 'config.json'), JSON.stringify({ provider, headerVariables: ['TEAM_KEY'] }), {
    mode: 0o600,
  });
  const environment = {
    GATEWAY_KEY: 'gateway-secret',
    STAGE: 'stage-secret',
    TEAM_KEY: 'team-secret',
    LISTED_KEY: 'listed-secret',
    GROUNDCREW_HEADER_ENV: 'LISTED_KEY',
    HTTPS_PROXY: 'http://me:proxy-secret@proxy.example:3128',
    all_proxy: 'me:proxy-secret@other.example:1080',
    npm_config_https_proxy: 'https://me:proxy%2Dsecret@proxy.example',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-secret',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=collector-secret',
    NO_PROXY: '127.0.0.1',
    PLAIN: 'plain-value',
  };
  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'], home, environment }));
  const command = { command: 'env', description: 'Shows the environment' };
  const model = runtime.script(callTools({ id: 'c1', name: 'bash', arguments: command }), say('done'));
  const session = await client.create(providerOf(model));
  await session.call('session.permissions.setMode', { mode: 'allow-all' });
  const events = await session.turn('Go');
  const received = JSON.stringify(events.find(({ type }) => type === 'tool.execution_complete'));
  expect(received).toContain('plain-value');
  expect(received).toContain('http://proxy.example:3128');
  expect(received).not.toMatch(
    /gateway-secret|stage-secret|team-secret|listed-secret|proxy.{1,3}secret|collector-secret/,
  );
});
