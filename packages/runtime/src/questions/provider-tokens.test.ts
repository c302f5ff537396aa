import { expect, test } from 'vitest';
import { type Attachment, Audience } from '../session/audience.js';
import { modelSeams } from './provider-tokens.js';

function audienceOf(answer: () => Promise<unknown>): Audience {
  const audience = new Audience();
  const attachment: Attachment = {
    clientId: 'c',
    tools: [],
    commands: [],
    elicitation: false,
    requestPermission: false,
    requestUserInput: false,
    requestExitPlanMode: false,
    requestAutoModeSwitch: false,
    reportsIntent: false,
    tokenProviders: ['default'],
    receive: () => undefined,
    ask: answer as Attachment['ask'], // what is asked here is always the same
  };
  audience.attach(attachment);
  return audience;
}

test('calls that begin together share one question, and a later one asks anew', async () => {
  let questions = 0;
  const { getBearerToken } = modelSeams(
    's',
    audienceOf(async () => ({ token: `token-${++questions}` })),
  );
  const { signal } = new AbortController();
  const together = [getBearerToken('default', signal), getBearerToken('default', signal)];
  expect(await Promise.all(together)).toEqual(['token-1', 'token-1']);
  expect(await getBearerToken('default', signal)).toBe('token-2');
});

test('who gives up does not end the question for the others', async () => {
  let answer = (_: unknown): void => undefined;
  const asked = new Promise((resolve) => {
    answer = resolve;
  });
  const { getBearerToken } = modelSeams(
    's',
    audienceOf(() => asked),
  );
  const impatient = new AbortController();
  const first = getBearerToken('default', impatient.signal);
  const second = getBearerToken('default', new AbortController().signal);
  impatient.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  answer({ token: 'late' });
  expect(await second).toBe('late');
});
