import { expect, test } from 'vitest';
import { seatbeltProfile } from './seatbelt.js';

test('a profile allows reading, writes in the session only, and hides last what is hidden', () => {
  const profile = seatbeltProfile({
    view: {
      hidden: [
        { path: '/Users', isDirectory: true },
        { path: '/Users/ann/.ssh', isDirectory: true },
        { path: '/Users/ann/work/.npmrc', isDirectory: false },
      ],
      shown: ['/Users/ann'],
      writable: ['/Users/ann/work'],
      readOnly: ['/Users/ann/work/vendor'],
      frozen: ['/Users/ann/work/kept'],
      denied: [{ path: '/Users/ann/work/"x\\y', isDirectory: false }],
    },
    temporaryDirectory: '/private/tmp/own',
    hasNetwork: false,
    hasKeychain: false,
  });
  expect(profile.split('\n')).toEqual([
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/stdout") (literal "/dev/stderr") (literal "/dev/tty") (literal "/dev/dtracehelper"))',
    '(deny network*)',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target children))',
    '(deny mach-lookup (global-name "com.apple.SecurityServer"))',
    '(deny file-read* file-write* (subpath "/Users"))',
    '(deny file-read* file-write* (subpath "/Users/ann/.ssh"))',
    '(deny file-read* file-write* (subpath "/Users/ann/work/.npmrc"))',
    '(allow file-read* (subpath "/Users/ann"))',
    '(deny file-read* file-write* (subpath "/Users/ann/.ssh"))',
    '(deny file-read* file-write* (subpath "/Users/ann/work/.npmrc"))',
    '(allow file-read* file-write* (subpath "/private/tmp/own"))',
    '(allow file-read* file-write* (subpath "/Users/ann/work"))',
    '(allow file-read* (subpath "/Users/ann/work/vendor"))',
    '(deny file-write* (subpath "/Users/ann/work/vendor"))',
    '(deny file-write* (subpath "/Users/ann/work/kept"))',
    '(deny file-read* file-write* (subpath "/Users/ann/work/.npmrc"))',
    '(deny file-read* file-write* (subpath "/Users/ann/work/\\"x\\\\y"))',
  ]);
});
