import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { approveAll, Client, defineTool } from '@groundcrew/sdk';
import {
  callTools,
  contains,
  didNotUse,
  evaluate,
  exactly,
  judgedBy,
  matchesSchema,
  refuse,
  say,
  scriptedModel,
  temporaryWorkplace,
  usedTool,
  type Workplace,
} from '@groundcrew/testing';
import { byExtent } from '@groundcrew/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';

let workplace: Workplace;
let client: Client;
beforeEach(() => {
  workplace = temporaryWorkplace();
  client = new Client(workplace.clientOptions);
});
afterEach(async () => {
  await client.stop();
  workplace.remove();
});

const lookUp = defineTool('look_up', {
  description: 'Says where an order is',
  parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  handler: ({ order }) => `${order} is on its way`,
});
const agent = { tools: [lookUp], onPermissionRequest: approveAll };

test('two variants of an agent are tried with a dataset, and table, page and reasons say where they differ', async () => {
  await using careful = await scriptedModel(
    callTools({ name: 'look_up', arguments: { order: 'A-17' } }),
    say('A-17 is on its way.'),
    say('{"total": 3}'),
  );
  await using hasty = await scriptedModel(
    say('<b>It</b> will come.'),
    say('```json\n{"total": "three"}\n```'),
  );
  const progress: string[] = [];
  const evaluation = await evaluate({
    client,
    concurrency: 1,
    dataset: [
      {
        name: 'order',
        prompt: 'Where is my order A-17?',
        checks: [contains('on its way'), usedTool('look_up', { order: 'A-17' }), didNotUse('bash')],
      },
      { prompt: 'Count', checks: [matchesSchema(z.object({ total: z.number() }))] },
    ],
    variants: { careful: { ...agent, ...careful.settings }, hasty: { ...agent, ...hasty.settings } },
    onProgress: ({ done, of }) => progress.push(`${done}/${of}`),
  });
  expect(progress).toEqual(['1/4', '2/4', '3/4', '4/4']);
  expect(
    evaluation.cases.map(({ name, variant, passed, checks }) => [name, variant, passed, checks]),
  ).toEqual([
    [
      'order',
      'careful',
      true,
      [
        { check: 'contains "on its way"', passed: true },
        { check: 'uses look_up with {"order":"A-17"}', passed: true },
        { check: 'does not use bash', passed: true },
      ],
    ],
    [
      'order',
      'hasty',
      false,
      [
        { check: 'contains "on its way"', passed: false, reason: 'The answer is "<b>It</b> will come."' },
        { check: 'uses look_up with {"order":"A-17"}', passed: false, reason: 'No tool was called' },
        { check: 'does not use bash', passed: true },
      ],
    ],
    ['Count', 'careful', true, [{ check: 'fits the schema', passed: true }]],
    [
      'Count',
      'hasty',
      false,
      [
        {
          check: 'fits the schema',
          passed: false,
          reason: expect.stringMatching(/^total: .*expected number/),
        },
      ],
    ],
  ]);
  expect(evaluation.passed).toBe(false);
  const [head, order, count, passed] = evaluation.table().split('\n');
  expect([head, order, count, passed]).toEqual([
    '         careful  hasty',
    'order    ✓        ✗',
    'Count    ✓        ✗',
    'passed   2/2      0/2',
  ]);
  expect(() => evaluation.verify()).toThrow('order with hasty: contains "on its way": The answer is');
  const file = join(workplace.workingDirectory, 'evaluation.html');
  await evaluation.writePage(file, 'Orders <1>');
  const page = readFileSync(file, 'utf8');
  expect(page).toContain('<title>Orders &lt;1&gt;</title>');
  expect(page).toContain('&lt;b&gt;It&lt;/b&gt; will come.');
  expect(page).not.toContain('<b>');
  expect(page).toContain('<span class="new">+ &lt;b&gt;It');
  careful.verify();
  hasty.verify();
});

test('a judge model decides with a reason, and one that gives no verdict fails the check', async () => {
  await using model = await scriptedModel(say('Dear customer, it is on its way.'), say('Dunno.'));
  await using judge = await scriptedModel(
    say('{"reason": "It greets the customer.", "passed": true}'),
    refuse(403, 'not for you'),
  );
  const polite = judgedBy({ criterion: 'The answer is polite', session: judge.settings });
  const evaluation = await evaluate({
    client,
    concurrency: 1,
    dataset: [
      { name: 'one', prompt: 'Where is it?', checks: [polite] },
      { name: 'other', prompt: 'Where is it now?', checks: [polite] },
    ],
    variants: { now: model.settings },
  });
  expect(evaluation.cases.map(({ checks }) => checks)).toEqual([
    [{ check: 'judged: The answer is polite', passed: true, reason: 'It greets the customer.' }],
    [
      {
        check: 'judged: The answer is polite',
        passed: false,
        reason: expect.stringMatching(/^The judge gave no verdict: .*not for you/s),
      },
    ],
  ]);
  expect(judge.requests).toHaveLength(2);
});

test('a turn that fails is a failed case, and the others go on; attempts are counted', async () => {
  await using model = await scriptedModel(refuse(400, 'not today'), say('2'), say('2'), say('three'));
  const evaluation = await evaluate({
    client,
    concurrency: 1,
    attempts: 2,
    dataset: [
      { name: 'sum', prompt: 'What is 1+1?', checks: [exactly('2')] },
      { name: 'again', prompt: 'What is 1+1 now?', checks: [contains(/^2$/)] },
    ],
    variants: { now: model.settings },
  });
  expect(evaluation.cases.map(({ name, attempt, passed }) => [name, attempt, passed])).toEqual([
    ['sum', 1, false],
    ['sum', 2, true],
    ['again', 1, true],
    ['again', 2, false],
  ]);
  expect(evaluation.cases[0]?.turn.error).toContain('not today');
  expect(evaluation.table().split('\n').slice(0, 4)).toEqual([
    '         now',
    'sum      1/2',
    'again    1/2',
    'passed   2/4',
  ]);
});

/** A hundred cases, or some of them. */
const cases = byExtent({ full: 50, short: 5 });

test('many cases with checks that throw or say nothing, and a variant that always fails: each has its reason', async () => {
  await using model = await scriptedModel(...Array.from({ length: cases }, () => say('<i>ok</i>\u001b[2J')));
  await using failing = await scriptedModel(
    ...Array.from({ length: cases }, () => refuse(400, '<u>not today')),
  );
  const nothing = JSON.parse('null');
  const checks = [
    exactly('<i>ok</i>\u001b[2J'),
    { name: 'nothing', judge: () => nothing },
    { name: 'nearly', judge: () => JSON.parse('{"passed":"yes"}') },
    {
      name: 'throws',
      judge: () => {
        throw new Error('<script>alert(1)</script>');
      },
    },
  ];
  const evaluation = await evaluate({
    client,
    dataset: Array.from({ length: cases }, (_, at) => ({
      name: `\u001b[2J<b>${at}`,
      prompt: `Try ${at}`,
      checks,
    })),
    variants: { good: model.settings, '<u>gone': failing.settings },
    concurrency: 8,
  });
  expect(evaluation.cases).toHaveLength(2 * cases);
  const [good, gone] = evaluation.cases;
  expect(good?.checks).toEqual([
    { check: 'is exactly "<i>ok</i>\\u001b[2J"', passed: true },
    { check: 'nothing', passed: false, reason: 'The check gave no verdict' },
    { check: 'nearly', passed: false, reason: 'The check gave no verdict' },
    { check: 'throws', passed: false, reason: 'The check failed: <script>alert(1)</script>' },
  ]);
  expect(gone?.turn.error).toContain('<u>not today');
  expect(evaluation.cases.some(({ passed }) => passed)).toBe(false);
  expect(evaluation.table().split('\n')[1]).toMatch(/^\[2J<b>0 +✗ +✗$/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of terminals
  expect(evaluation.table()).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  expect(evaluation.page('<x>')).not.toMatch(/<(?:i|b|u|x|script)[ >]/);
});

test('what stops an evaluation leaves no session at work, and no verdict that nobody gave', async () => {
  await using model = await scriptedModel(...Array.from({ length: 20 }, () => say('ok')));
  let judged = 0;
  const counted = {
    name: 'counted',
    judge: () => {
      judged += 1;
      return { passed: true };
    },
  };
  const dataset = Array.from({ length: 20 }, (_, at) => ({ prompt: `Try ${at}`, checks: [counted] }));
  const shared = { client, dataset, variants: { now: model.settings }, concurrency: 2 };
  const onProgress = () => {
    throw new Error('no room for more');
  };
  await expect(evaluate({ ...shared, onProgress })).rejects.toThrow('no room for more');
  expect(judged).toBe(2);

  const stop = new AbortController();
  const stopping = {
    name: 'stops',
    judge: () => {
      stop.abort(new Error('enough'));
      return { passed: false };
    },
  };
  await expect(
    evaluate({ ...shared, dataset: [{ prompt: 'Last', checks: [stopping] }], signal: stop.signal }),
  ).rejects.toThrow('enough');
});

const one = { dataset: [{ prompt: 'a', checks: [exactly('b')] }], variants: { now: {} } };

test.each([
  [{ dataset: [], variants: { now: {} } }, 'An evaluation needs at least one case and one variant'],
  [
    { dataset: [{ prompt: 'a', checks: [] }], variants: { now: {} } },
    "The case 'a' has no checks: it could not fail",
  ],
  [
    {
      dataset: [
        { prompt: 'a', checks: [exactly('b')] },
        { prompt: 'a', checks: [exactly('b')] },
      ],
      variants: { now: {} },
    },
    "Two cases are named 'a': give them names of their own",
  ],
  [{ ...one, attempts: 0 }, 'attempts has to be a whole number above 0, not 0'],
  [{ ...one, concurrency: Number.NaN }, 'concurrency has to be a whole number above 0, not NaN'],
  [{ ...one, dataset: JSON.parse('[{"prompt":"a"}]') }, "The case 'a' has no checks: it could not fail"],
  [{ ...one, dataset: JSON.parse('[{"checks":[]}]') }, 'Case 1 of the dataset has no prompt'],
  [{ ...one, dataset: JSON.parse('[null]') }, 'Case 1 of the dataset has no prompt'],
  [{ ...one, dataset: JSON.parse('{"prompt":"a"}') }, 'The dataset has to be a list of cases'],
  [{ ...one, variants: JSON.parse('null') }, 'An evaluation needs at least one case and one variant'],
  [
    { ...one, dataset: JSON.parse('[{"prompt":"a","name":7,"checks":[{}]}]') },
    'Case 1 of the dataset has a name that is no text',
  ],
  [
    { ...one, dataset: JSON.parse('[{"prompt":"a","checks":[{"name":"contains","text":"b"}]}]') },
    "Check 1 of the case 'a' is none: it needs a name, and a function judge",
  ],
  [{ ...one, timeout: Number.NaN }, 'timeout has to be a number of milliseconds above 0, not NaN'],
])('what cannot be evaluated is refused (%#)', async (options, message) => {
  await expect(evaluate({ client, ...options })).rejects.toThrow(message);
});
