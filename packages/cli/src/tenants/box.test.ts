import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import { type BoxPlaces, boxArguments } from './box.js';
import { findBwrap } from './find-bwrap.js';

const bwrap = await findBwrap(process.env);
const program = 'program' in bwrap ? bwrap.program : '';
const own = temporaryDirectory();
afterAll(() => own.remove());
if ('problem' in bwrap) console.warn(`skipped, the test of a tenant's box: ${bwrap.problem}`);

test.skipIf('problem' in bwrap)(
  'a directory of others in a part of the system is empty in a box and read-only, but for what is the own',
  () => {
    const folder = '/usr/share';
    const [first = ''] = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    const inBox = (places: Pick<BoxPlaces, 'hidden' | 'readOnly'>) => {
      const all = { ...places, writable: [own.path], bound: [], secretFiles: [], workingDirectory: own.path };
      const script = `ls ${folder}; touch ${folder}/made 2>/dev/null || echo refused`;
      const run = ['--', '/bin/sh', '-c', script];
      const { stdout } = spawnSync(program, [...boxArguments(all), ...run], { encoding: 'utf8' });
      return stdout.trim().split('\n');
    };
    expect(inBox({ hidden: [], readOnly: [] })).toEqual(expect.arrayContaining([first, 'refused']));
    expect(inBox({ hidden: [folder], readOnly: [] })).toEqual(['refused']);
    expect(inBox({ hidden: [folder], readOnly: [`${folder}/${first}`] })).toEqual([first, 'refused']);
  },
);
