import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Masking } from './masking.js';
import { record } from './recorder.js';
import { maskNamed, Secrets } from './secrets.js';
import { temporaryDirectory } from './temporary.js';

let directory = temporaryDirectory();
beforeEach(() => {
  directory = temporaryDirectory();
  vi.stubEnv('CI', '');
});
afterEach(() => {
  directory.remove();
  vi.unstubAllEnvs();
});

const canaries = {
  bearer: 'canary-bearer-value',
  apiKey: 'canary-api-key-value',
  cookie: 'canary-cookie-value',
  setCookie: 'canary-set-cookie-value',
  query: 'canary-query-value',
  variable: 'canary-variable-value',
  said: 'canary-said-value',
  openai: 'sk-canary0123456789abcdef',
  github: 'ghp_canary0123456789abcdef',
  jwt: 'eyJjYW5hcnkiOjF9.eyJjYW5hcnkiOjF9.canary_signature',
  password: 'canary-password-value',
  address: 'canary-address-value',
  field: 'canary-field-value',
} as const;

test.each(['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings'])(
  'no secret of a call to %s reaches the cassette, wherever it was said',
  async (path) => {
    vi.stubEnv('SOME_SERVICE_TOKEN', canaries.variable);
    const file = join(directory.path, 'secret.yaml');
    const everything = [
      ...Object.values(canaries),
      `Authorization: Bearer ${canaries.jwt}`,
      `https://me:${canaries.password}@example.test/?access_token=${canaries.address}&page=2`,
      JSON.stringify({ client_secret: canaries.field }),
      Buffer.from(canaries.bearer).toString('base64'),
    ].join('\n');
    const arguments_ = JSON.stringify({ text: everything, api_key: canaries.field });
    const item = { role: 'user', content: everything };
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: arguments_ } };
    const asked = {
      model: 'm',
      api_key: canaries.field,
      nested: { password: canaries.password, notes: everything },
      messages: [item],
      input: [item, { type: 'function_call_output', call_id: 'c', output: everything }],
      instructions: everything,
      tools: [{ name: 't', description: everything }],
    };
    const answered = {
      model: 'm',
      choices: [{ message: { content: everything, tool_calls: [call] }, finish_reason: 'stop' }],
      output: [
        { type: 'message', content: [{ type: 'output_text', text: everything }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: arguments_ },
      ],
      content: [
        { type: 'text', text: everything },
        { type: 'tool_use', id: 'c', name: 'f', input: { text: everything, api_key: canaries.field } },
        { type: 'thinking', thinking: everything, signature: canaries.bearer },
        { type: 'server_tool', note: everything },
      ],
    };
    const sent: string[] = [];
    const recording = await record({
      upstream: 'https://user:canary-upstream-value@models.test/v1',
      file,
      secrets: [canaries.said],
      fetch: async (_url, init) => {
        sent.push(new Headers(init?.headers).get('authorization') ?? '');
        const status = sent.length > 1 ? 401 : 200;
        const headers = { 'set-cookie': `session=${canaries.setCookie}; Path=/` };
        return Response.json(status === 200 ? answered : { error: { message: everything } }, {
          status,
          headers,
        });
      },
    });
    const url = `${new URL(recording.baseUrl).origin}${path}?api-version=1&key=${canaries.query}`;
    for (let times = 0; times < 2; times++) {
      const response = await fetch(url, {
        method: 'POST',
        body: JSON.stringify(asked),
        headers: {
          authorization: `Bearer ${canaries.bearer}`,
          'x-api-key': canaries.apiKey,
          'api-key': canaries.apiKey,
          cookie: `a=1; session=${canaries.cookie}`,
        },
      });
      expect(await response.text()).toContain(canaries.bearer);
    }
    await recording.close();
    expect(sent).toEqual(Array(2).fill(`Bearer ${canaries.bearer}`));
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(/canary|Y2FuYXJ5/);
    expect(text).toContain(maskNamed('secret'));
    expect(text).toContain(`${path.replace('/v1', '')}?api-version=1&key=${maskNamed('secret')}`);
  },
);

test('what only talks of secrets is kept as it was said', () => {
  const masking = new Masking({ workingDirectory: '/nowhere/at/all' }, new Secrets([], {}));
  const said = [
    'Bearer tokens are sent in the authorization header.',
    'const token = getToken(); if (password === "") return;',
    'max_tokens: 4096, "max_tokens": 100, token_count=12',
    'skills-and-more sk-short',
    'password = readPassword(prompt)',
    'see https://example.test/path?page=2&sort=name',
  ].join('\n');
  expect(masking.ofAnswer([said], new Map())).toEqual([said]);
});
