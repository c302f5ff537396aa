import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Redactor, redactorFor } from './redact.js';

test('known values, values of secret names and forms of secrets are covered, at any depth', () => {
  const redactor = new Redactor('registered-value');
  const value = {
    apiKey: 'key-one',
    headers: { Authorization: 'Bearer abcdefgh', 'x-api-key': 'key-two', accept: 'text', 'X-Team': ['blue'] },
    mcpServers: { srv: { env: { LICENCE: 'of-mine' }, args: ['plain'] } },
    list: [{ bearerToken: 'short' }, 'the registered-value is here'],
    maxOutputTokens: 5,
    note: 'Authorization: Bearer abc.def-ghi and ghp_0123456789abcdefghij at https://me:pass@host/x',
  };
  expect(redactor.value(value)).toEqual({
    apiKey: '[redacted]',
    headers: {
      Authorization: '[redacted]',
      'x-api-key': '[redacted]',
      accept: 'text',
      'X-Team': ['[redacted]'],
    },
    mcpServers: { srv: { env: { LICENCE: '[redacted]' }, args: ['plain'] } },
    list: [{ bearerToken: '[redacted]' }, 'the [redacted] is here'],
    maxOutputTokens: 5,
    note: 'Authorization: Bearer [redacted] and [redacted] at https://[redacted]@host/x',
  });
});

test('what stood under a secret name is a secret everywhere from then on', () => {
  const redactor = new Redactor();
  redactor.value({ connectionToken: 'seen-once' });
  expect(redactor.text('it was seen-once before')).toBe('it was [redacted] before');
});

test('the environment gives the values of its secret names', () => {
  const redactor = redactorFor(
    { OPENAI_API_KEY: 'of-openai', TOKEN: 'of-token', PATH: '/usr/bin' },
    'of-others',
  );
  expect(redactor.text('of-openai of-token of-others /usr/bin')).toBe(
    '[redacted] [redacted] [redacted] /usr/bin',
  );
});

test('of two secrets one of which begins with the other, nothing is left of the longer', () => {
  const redactor = new Redactor('abcdef', 'abcdefghij');
  expect(redactor.text('abcdefghij abcdef')).toBe('[redacted] [redacted]');
});

test('a long text is covered in a time that grows with it', () => {
  const began = performance.now();
  for (const part of ['a.', 'sk-', 'a://', 'bearer ', 'a:b@', '://a:']) {
    const text = part.repeat(200_000);
    expect(new Redactor().text(`${text} https://me:pass@host`)).toMatch(/https:\/\/\[redacted\]@host$/);
  }
  expect(performance.now() - began).toBeLessThan(5000);
});

test('a registered secret never passes, whatever it is and wherever it stands', () => {
  const secret = fc.string({ minLength: 6, maxLength: 40 }).filter((text) => !'[redacted]'.includes(text));
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
      const redactor = new Redactor(hidden);
      const shown = JSON.stringify(redactor.value({ text: before + hidden + after, list: [hidden] }));
      return !shown.includes(JSON.stringify(hidden).slice(1, -1));
    }),
  );
});
