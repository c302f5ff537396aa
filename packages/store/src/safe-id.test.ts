import { expect, test } from 'vitest';
import { isSafeId } from './safe-id.js';

test('a session id is safe in file names, command lines, URLs and logs', () => {
  const ids = [
    'b6b4fb1c-0c51-4a39-9f0b-6a3d7a3c1e55',
    'my_session.1',
    '',
    '..',
    '.x',
    'a..b',
    '-rf',
    'a/b',
    'a b',
    'ä',
    'a\n',
    'a'.repeat(129),
  ];
  expect(ids.filter(isSafeId)).toEqual(['b6b4fb1c-0c51-4a39-9f0b-6a3d7a3c1e55', 'my_session.1']);
});
