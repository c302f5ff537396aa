import { callTools, liveRuntime, type ScriptedModel, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const summary = say('<overview>Things happened.</overview>');
const filler = 'lorem ipsum dolor sit amet '.repeat(60);
const lastResult = ({ requests }: ScriptedModel) =>
  String(requests.at(-1)?.body.messages?.at(-1)?.content ?? '');

/** What was said in the session, and questions that have to find it. */
const planted: readonly (readonly [said: string, words: string, ...queries: string[]])[] = [
  [
    `${filler} The staging cluster runs 7 replicas of harbour-api. ${filler}`,
    'The staging cluster runs 7 replicas of harbour-api.',
    'How many replicas are running in the staging cluster?',
    'harbour-api replica count.',
    'replicas, (staging) "cluster"',
    'CLUSTER: STAGING; REPLICAS!',
  ],
  [
    `The deployment key is called "tide-key" (it's in vault/prod). ${filler}`,
    'The deployment key is called "tide-key" (it\'s in vault/prod).',
    'which key is used when deploying?',
    'NEAR("tide-key" vault, 3) AND NOT x*',
    'vault/prod.',
    'tide-key" OR ""',
  ],
  [
    `${filler} 港口的密码是海鸥四十二号。${filler}`,
    '港口的密码是海鸥四十二号',
    '密码是什么',
    '请告诉我港口密码',
  ],
  [
    `${filler} デプロイの合言葉は青い灯台です。`,
    'デプロイの合言葉は青い灯台です',
    '合言葉は何ですか',
    'デプロイ 合言葉',
  ],
  [`${filler} 배포 담당자는 김민준입니다. ${filler}`, '배포 담당자는 김민준입니다', '담당자가 누구'],
  [
    `${filler} Le café Élan ouvre à 6 h 45. ${filler}`,
    'Le café Élan ouvre à 6 h 45',
    'cafe elan',
    'CAFÉ ÉLAN?',
  ],
  [
    `berth berth berth ${filler.repeat(3)} The berth zq17 is 91 metres long. ${filler.repeat(3)} berth`,
    'The berth zq17 is 91 metres long.',
    'how long is berth zq17?',
    'zq17.',
    'long berth metres zq17 is how',
  ],
];

test('recall finds the exact words by questions in other orders, forms, scripts and punctuation, although the questions are in the log too', async () => {
  const queries = planted.flatMap(([, words, ...each]) => each.map((query) => ({ words, query })));
  const asking = queries.flatMap(({ query }, index) => [
    callTools({ id: `c${index}`, name: 'recall', arguments: { query } }),
    say('ok'),
  ]);
  const { session, model } = await runtime.session([
    ...planted.map(() => say('noted')),
    summary,
    ...asking,
    ...asking,
  ]);
  for (const [said] of planted) await session.turn(said);
  await session.call('session.history.compact');
  const missed: string[] = [];
  for (const _ of [1, 2])
    for (const { words, query } of queries) {
      await session.turn(query);
      if (!lastResult(model).includes(words)) missed.push(query);
    }
  expect(missed).toEqual([]);
});

test('recall finds what a file was made of, word by word, and what it was called', async () => {
  const { session, model } = await runtime.session([
    callTools({
      id: 'c1',
      name: 'create',
      arguments: { path: 'charts/kestrel.txt', file_text: 'depth "zq9":\n\t44 fathoms\n' },
    }),
    say('drawn'),
    summary,
    callTools({ id: 'c2', name: 'recall', arguments: { query: 'depth of zq9' } }),
    say('ok'),
  ]);
  await session.turn('Draw it');
  await session.call('session.history.compact');
  await session.turn('And now?');
  expect(lastResult(model)).toContain('path: charts/kestrel.txt\nfile_text: depth "zq9":\n\t44 fathoms');
});

test('recall of nothing, of signs alone and of an id that is not there says so in words', async () => {
  const queries = [{ query: '***' }, { query: '  ' }, { query: '""' }, { id: 'nobody' }, {}];
  const { session, model } = await runtime.session([
    say('one'),
    ...queries.flatMap((given, index) => [
      callTools({ id: `c${index}`, name: 'recall', arguments: given }),
      say('ok'),
    ]),
  ]);
  await session.turn('First');
  const answers: string[] = [];
  for (const _ of queries) {
    await session.turn('Look');
    answers.push(lastResult(model));
  }
  const nothing = 'Nothing was found. Try other words, or fewer.';
  const give = expect.stringContaining('Give a query or an id.') as string;
  expect(answers).toEqual([nothing, give, nothing, 'There is no message with the id nobody.', give]);
});
