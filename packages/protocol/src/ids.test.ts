import { expect, test } from 'vitest';
import { isSessionId } from './ids.js';

test('a session id is safe in file names, URLs and logs', () => {
  const ids = [
    'b6b4fb1c-0c51-4a39-9f0b-6a3d7a3c1e55',
    'my_session.1',
    '',
    '..',
    '.x',
    'a/b',
    'a b',
    'ä',
    'a\n',
    'a'.repeat(129),
  ];
  expect(ids.filter(isSessionId)).toEqual(['b6b4fb1c-0c51-4a39-9f0b-6a3d7a3c1e55', 'my_session.1']);
});
