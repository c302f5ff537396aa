import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { grepTool } from './grep.js';

const world = ToolWorld.forEachTest();
const grep = grepTool();

function fill(): void {
  mkdirSync(world.path('sub'));
  writeFileSync(world.path('data.txt'), 'apple\nbanana\napricot\n');
  writeFileSync(world.path('sub', 'b.ts'), 'x\nap: y\r\nz\nz\nz\nAP\n');
}

/** Until directories count as left alone. */
async function untilSettled(): Promise<void> {
  const last = Math.max(...[world.path(), world.path('sub')].map((path) => statSync(path).ctimeMs));
  await vi.waitUntil(() => Date.now() - last > 30, { interval: 5 });
}

test('the result names files that match, sorted, from the root as it was given', async () => {
  fill();
  expect(await world.published(grep, { pattern: 'ap' })).toBe('./data.txt\n./sub/b.ts');
  expect(await world.published(grep, { pattern: 'ap', path: 'sub' })).toBe('sub/b.ts');
  expect(await world.published(grep, { pattern: 'ap', paths: [world.path('sub'), 'data.txt'] })).toBe(
    `${world.path('sub/b.ts')}\ndata.txt`,
  );
});

test('the result shows content by lines, with numbers when asked for, of one file as of many', async () => {
  fill();
  expect(
    await world.published(grep, {
      pattern: '^ap',
      path: world.path('data.txt'),
      output_mode: 'content',
      '-n': true,
    }),
  ).toBe(`${world.path('data.txt')}:1:apple\n${world.path('data.txt')}:3:apricot`);
  expect(await world.published(grep, { pattern: '^ap', output_mode: 'content' })).toBe(
    './data.txt:apple\n./data.txt:apricot\n./sub/b.ts:ap: y',
  );
});

test('lines around a match are marked apart from it, and stretches from one another', async () => {
  fill();
  expect(
    await world.published(grep, { pattern: 'ap', '-i': true, '-C': 1, '-n': true, output_mode: 'content' }),
  ).toBe(
    [
      './data.txt:1:apple',
      './data.txt-2-banana',
      './data.txt:3:apricot',
      '--',
      './sub/b.ts-1-x',
      './sub/b.ts:2:ap: y',
      './sub/b.ts-3-z',
      '--',
      './sub/b.ts-5-z',
      './sub/b.ts:6:AP',
    ].join('\n'),
  );
  expect(await world.published(grep, { pattern: 'banana', '-A': 1, output_mode: 'content' })).toBe(
    './data.txt:banana\n./data.txt-apricot',
  );
  expect(await world.published(grep, { pattern: 'banana', '-B': 1, output_mode: 'content' })).toBe(
    './data.txt-apple\n./data.txt:banana',
  );
});

test('matches are counted by file', async () => {
  fill();
  expect(await world.published(grep, { pattern: 'ap', output_mode: 'count' })).toBe(
    './data.txt:2\n./sub/b.ts:1',
  );
  expect(await world.published(grep, { pattern: 'ap', output_mode: 'count', path: 'data.txt' })).toBe(
    'data.txt:2',
  );
});

test('globs, types, limits and patterns across lines narrow or widen a search', async () => {
  fill();
  expect(await world.published(grep, { pattern: 'ap', glob: '*.ts' })).toBe('./sub/b.ts');
  expect(await world.published(grep, { pattern: 'ap', type: 'ts' })).toBe('./sub/b.ts');
  expect(await world.published(grep, { pattern: '.', output_mode: 'content', head_limit: 2 })).toBe(
    './data.txt:apple\n./data.txt:banana',
  );
  const all = await world.published(grep, { pattern: '.', output_mode: 'content' });
  expect(all.split('\n').length).toBeGreaterThan(2);
  expect(await world.published(grep, { pattern: '.', output_mode: 'content', head_limit: 0 })).toBe(all);
  expect(await world.published(grep, { pattern: 'apple.banana', multiline: true })).toBe('./data.txt');
});

test('nothing found is an answer, a wrong pattern or type a failure', async () => {
  fill();
  expect(await world.published(grep, { pattern: 'zebra' })).toBe('No matches found.');
  const { failure } = await world.call(grep, { pattern: '(' });
  expect(failure?.text).toMatch(/^Error: rg: regex parse error:\n/);
  expect(await world.published(grep, { pattern: 'a', type: 'nope' })).toContain(
    'unrecognized file type: nope',
  );
});

test('what a model writes is never a flag', async () => {
  writeFileSync(world.path('f.txt'), '--files\n-e\n');
  writeFileSync(world.path('-v'), 'nothing\n');
  expect(await world.published(grep, { pattern: '--files', output_mode: 'content' })).toBe('./f.txt:--files');
  expect(await world.published(grep, { pattern: 'nothing', path: '-v', output_mode: 'content' })).toBe(
    '-v:nothing',
  );
});

test('odd names keep their form, and links on the way are not followed', async () => {
  writeFileSync(world.path('a:1:b.txt'), 'find me\n');
  writeFileSync(world.path('ü -- x.txt'), 'find me\n');
  writeFileSync(world.outside('s.txt'), 'find me\n');
  symlinkSync(world.outside(), world.path('out'));
  expect(await world.published(grep, { pattern: 'find', output_mode: 'content' })).toBe(
    './a:1:b.txt:find me\n./ü -- x.txt:find me',
  );
});

test('a tree that was left alone gives the same as one that is just being changed', async () => {
  fill();
  mkdirSync(world.path('sub', 'deep'));
  writeFileSync(world.path('sub', 'deep', 'c.txt'), 'ap\n');
  writeFileSync(world.path('line\nend.txt'), 'ap in an odd place\n');
  writeFileSync(world.path('sub', 'late.bin'), `ap\n${'z\n'.repeat(100_000)}\n\0\nap\n`);
  symlinkSync(world.path('sub'), world.path('link'));
  const inputs = [
    ...['.', 'sub', './sub/', world.path('sub'), '../work/sub', 'link', 'sub/deep/c.txt'].map((path) => ({
      path,
    })),
    { paths: ['sub', 'data.txt'] },
    { paths: ['sub', 'sub/deep'] },
    { path: 'sub', glob: 'sub/*.ts' },
    { path: 'sub', glob: 'deep/**' },
  ].flatMap((input) =>
    [
      {},
      { output_mode: 'count', glob: '*.t*' },
      { output_mode: 'content' },
      { output_mode: 'content', '-C': 1, '-n': true },
    ].map((mode) => ({ pattern: 'ap', ...mode, ...input })),
  );
  const all = async (prepare: () => void | Promise<void>) => {
    const results: string[] = [];
    for (const input of inputs) {
      await prepare();
      results.push(await world.published(grep, input));
    }
    return results;
  };
  const changing = await all(() => {
    for (const directory of ['.', 'sub', 'sub/deep']) {
      writeFileSync(world.path(directory, 'new'), '');
      rmSync(world.path(directory, 'new'));
    }
  });
  expect(await all(untilSettled)).toEqual(changing);
  expect(changing[4]).toBe('sub/b.ts\nsub/deep/c.txt\nsub/late.bin');
});

test('what rules deny is not found in a tree that was left alone', async () => {
  fill();
  await untilSettled();
  const context = {
    isForbidden: ({ real }: { readonly real: string }) => real === world.path('sub', 'b.ts'),
  };
  for (const input of [{}, { path: 'sub' }, { output_mode: 'content' }, { output_mode: 'count' }]) {
    const { result } = await world.call(grep, { pattern: 'ap', ...input }, { context });
    expect(result?.text).not.toContain('b.ts');
  }
});

test('each place is asked for, an outside one twice, a missing one not at all', async () => {
  fill();
  const read = (intention: string, path: string) => ({ kind: 'read', intention, path });
  const { questions } = await world.call(grep, { pattern: 'x', paths: ['data.txt', world.outside()] });
  expect(questions).toEqual([
    { request: read(`Search in file: ${world.path('data.txt')}`, world.path('data.txt')) },
    {
      request: read(`Search in directory: ${world.outside()}`, world.outside()),
      prompt: { kind: 'path', accessKind: 'read', paths: [world.outside()] },
    },
    { request: read(`Search in directory: ${world.outside()}`, world.outside()) },
  ]);
  const missing = await world.call(grep, { pattern: 'x', path: 'gone' });
  expect([missing.questions, missing.failure?.message]).toEqual([[], 'Path does not exist']);
});

test('what was found elsewhere, after a directory was moved away under the question, is not shown', async () => {
  fill();
  writeFileSync(world.outside('s.txt'), 'apple secret\n');
  const { failure } = await world.call(
    grep,
    { pattern: 'ap', path: 'sub' },
    {
      answer: () => {
        renameSync(world.path('sub'), world.path('was'));
        symlinkSync(world.outside(), world.path('sub'));
      },
    },
  );
  expect(failure?.text).toMatch(/^PlaceChanged: /);
});

test('a long result goes to a file of the session, with a preview', async () => {
  writeFileSync(world.path('f.txt'), 'match\n'.repeat(5000));
  const published = await world.published(grep, { pattern: 'match', output_mode: 'content' });
  expect(published).toMatch(
    /^Output too large to read at once \(\d+\.\d KB\)\. Saved to: .*\/session\/temp\/\d+-copilot-tool-output-\w+\.txt\n/,
  );
  expect(published.slice(published.indexOf('Preview'))).toBe(
    `Preview (first 500 chars):\n${'./f.txt:match\n'.repeat(50).slice(0, 500)}`,
  );
});

test('a search that is given up ends', async () => {
  fill();
  const prepared = await grep.prepare({ pattern: 'ap' }, world.context());
  if (prepared.type !== 'run') throw new Error('grep runs here');
  await expect(prepared.run(AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
  rmSync(world.path('sub'), { recursive: true });
});

test('a call says where it searches', () => {
  expect(grep.intention?.({ pattern: 'x', path: 'src' })).toBe('src');
  expect(grep.intention?.({ pattern: 'x', paths: ['a', 'b'] })).toBe('a, b');
  expect(grep.intention?.({ pattern: 'x' })).toBeUndefined();
});
