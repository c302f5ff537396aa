import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cliWorld } from './program.js';

const world = cliWorld();

function put(folder: string, name: string, text: string): string {
  mkdirSync(join(folder, name), { recursive: true });
  const path = join(folder, name, 'SKILL.md');
  writeFileSync(path, text);
  return path;
}

test('skills are listed, shown and checked without a session', async () => {
  const project = join(world.workingDirectory, '.github/skills');
  const path = put(
    project,
    'pdf',
    '---\nname: pdf\ndescription: Fills in forms\nlicense: MIT\n---\nBoxes first.\n',
  );
  expect(await world.run(['skills', 'ls'])).toEqual({
    code: 0,
    stdout: '* pdf  project  Fills in forms\n',
    stderr: '',
  });
  expect(await world.run(['skills', 'show', 'pdf'])).toEqual({
    code: 0,
    stdout: `pdf: Fills in forms\n${path} (project)\nlicense MIT\n\nBoxes first.\n`,
    stderr: '',
  });
  expect(await world.run(['skills', 'check'])).toEqual({
    code: 0,
    stdout: '1 skills, 0 errors, 0 warnings\n',
    stderr: '',
  });
  const bad = put(project, 'bad', '---\nname: bad\ndescription: [\n---\n');
  const { code, stdout } = await world.run(['skills', 'check']);
  expect({ code, first: stdout.split('\n')[0] }).toEqual({
    code: 1,
    first: expect.stringMatching(new RegExp(`^error: ${bad}:\\d: `)),
  });
  expect((await world.run(['skills', 'show', 'nope'])).code).toBe(1);
  expect((await world.run(['skills', 'wrong'])).code).toBe(2);
});
