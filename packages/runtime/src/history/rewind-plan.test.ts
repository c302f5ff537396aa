import { temporaryDirectory } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { reduce } from '../log/fold.js';
import { initialState } from '../log/state.js';
import { FileSnapshots } from '../workspace/file-snapshots.js';
import { planRewind } from './rewind-plan.js';

test('a rewind with files goes no further back than changes are kept, and says so', async () => {
  const home = temporaryDirectory();
  const snapshots = new FileSnapshots(home.path);
  const states = Array.from({ length: 4 }, () => initialState);
  let now = initialState;
  for (let index = 0; index < 1400; index += 1) {
    const prompt = Math.floor(index / 350);
    if (index % 350 === 0) states[prompt] = now;
    const path = `${home.path}/${index}.txt`;
    const data = {
      promptId: `p${prompt}`,
      path,
      real: path,
      before: { type: 'absent' },
      after: '',
      linesAdded: 1,
      linesRemoved: 0,
    } as const;
    now = reduce(now, { seq: index + 1, note: 'file.changing', data });
  }
  const [, early = initialState, , late = initialState] = states;
  expect(await planRewind({ now, before: late }, snapshots)).toHaveLength(350);
  await expect(planRewind({ now, before: early }, snapshots)).rejects.toThrow(
    'because only the last 1000 changes of files are kept',
  );
  home.remove();
});
