import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ToolWorld, type Tried } from '../../test/tool-world.js';
import { createTool } from './create.js';
import { editTool } from './edit.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { viewTool } from './view.js';

const world = ToolWorld.forEachTest();
const secret = 'secret of the outside';

/** Everything a call gave away, or would have. */
function publishedBy({ result, failure, questions }: Tried): string {
  return JSON.stringify([result, failure, questions.map(({ request }) => request)]);
}

/** Was the place itself asked for? */
function wasAsked({ questions }: Tried): boolean {
  return questions.some(({ prompt }) => prompt?.kind === 'path');
}

function fill(): void {
  mkdirSync(world.path('sub'));
  writeFileSync(world.path('mine.txt'), 'mine\n');
  writeFileSync(world.outside('s.txt'), `${secret}\n`);
  symlinkSync(world.outside(), world.path('out'));
  symlinkSync('../out/s.txt', world.path('sub', 'link.txt'));
  symlinkSync('..', world.path('sub', 'up'));
  symlinkSync(world.outside('none'), world.path('dangling'));
}

const names = [
  '..',
  'outside',
  'work',
  'sub',
  'up',
  'out',
  'link.txt',
  's.txt',
  'mine.txt',
  'new',
  'dangling',
  '*',
];
const paths = () =>
  fc
    .tuple(
      fc.constantFrom('', `${world.path()}/`, `${world.outside()}/`),
      fc.array(fc.constantFrom(...names), { maxLength: 5 }),
    )
    .map(([start, rest]) => start + rest.join('/'));

test('whatever path is named, nothing outside is read or written before the place was asked for', async () => {
  fill();
  const tools = [viewTool(), createTool(), editTool(), grepTool(), globTool()];
  const inputs = (path: string) => [
    { path },
    { path, file_text: 'x' },
    { path, old_str: 'secret', new_str: 'changed' },
    { path, pattern: 'secret|mine', output_mode: 'content' },
    { pattern: path || '*' },
  ];
  await fc.assert(
    fc.asyncProperty(paths(), fc.nat({ max: tools.length - 1 }), async (path, index) => {
      const tool = tools[index];
      if (!tool) return;
      const tried = await world.call(tool, inputs(path)[index]);
      const isUntouched =
        readdirSync(world.outside()).join() === 's.txt' &&
        readFileSync(world.outside('s.txt'), 'utf8') === `${secret}\n`;
      if (!wasAsked(tried)) expect([isUntouched, publishedBy(tried).includes(secret)]).toEqual([true, false]);
      rmSync(world.outside(), { recursive: true });
      mkdirSync(world.outside());
      writeFileSync(world.outside('s.txt'), `${secret}\n`);
    }),
    { numRuns: 300 },
  );
});

test('a refusal of the place ends the call before anything is read', async () => {
  fill();
  const refuse = () => {
    throw new Error('refused');
  };
  for (const [tool, input] of [
    [viewTool(), { path: 'out/s.txt' }],
    [editTool(), { path: 'out/s.txt', old_str: secret, new_str: '' }],
    [grepTool(), { pattern: 'secret', path: 'out' }],
    [globTool(), { pattern: '*', paths: 'out' }],
    [createTool(), { path: 'out/new', file_text: '' }],
  ] as const) {
    const tried = await world.call(tool, input, { answer: refuse });
    expect([
      tool.name,
      tried.failure?.message,
      tried.questions.length,
      publishedBy(tried).includes(secret),
    ]).toEqual([tool.name, 'refused', 1, false]);
  }
});
