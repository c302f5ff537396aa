import { expect, test } from 'vitest';
import { limitsStatus } from './status.js';

const call = { model: 'm', inputTokens: 1000, price: { input: 1, output: 10 } };
const spent = { calls: 2, tokens: 500, cost: 0.015 };
const said = (text: string) => `<session_limits_status>\n${text}\n</session_limits_status>`;
const frugal = 'Be frugal; avoid optional exploration and unnecessary tool calls.';
const last =
  'Final model call for this session: do not call tools; summarize progress, state what remains, and stop.';
const later = 'Later session_limits_status messages supersede earlier ones.';

test('the status says of every limit what is left', () => {
  expect(limitsStatus({ maxAiCredits: 30 }, spent, call)).toBe(
    said(`Remaining session limits: 28.5 AI credits. ${later} ${frugal}`),
  );
  expect(limitsStatus({ maxCalls: 9, maxCost: 1, maxTokens: 9000, maxAiCredits: 100 }, spent, call)).toBe(
    said(`Remaining session limits: 98.5 AI credits, $0.985, 8500 tokens, 7 model calls. ${later} ${frugal}`),
  );
});

test.each([{ maxCalls: 3 }, { maxTokens: 2400 }, { maxCost: 0.0165 }, { maxAiCredits: 1.65 }])(
  '%j is room for one more call, and the model hears that it is the last',
  (limits) => {
    expect(limitsStatus(limits, spent, call)).toContain(`${later} ${last}`);
  },
);
