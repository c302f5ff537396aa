import { describe, expect, test } from 'vitest';
import { bwrapArguments } from './bwrap-arguments.js';
import { type Mount, planMounts, rootsOf, type View } from './mount-plan.js';

const view = (some: Partial<View>): View => ({
  base: [{ type: 'read-only', path: '/' }],
  hidden: [],
  shown: [],
  private: [],
  writable: [],
  readOnly: [],
  denied: [],
  frozen: [],
  ...some,
});
const directory = (path: string) => ({ path, isDirectory: true });
const file = (path: string) => ({ path, isDirectory: false });
const lines = (mounts: readonly Mount[]) => mounts.map(({ type, path }) => `${type} ${path}`);

describe('the order of mounts', () => {
  test('what lies deeper comes later, so that it is seen', () => {
    const plan = planMounts(
      view({
        hidden: [directory('/home/ann/.ssh'), directory('/home')],
        shown: ['/home/ann'],
        writable: ['/home/ann/work'],
      }),
    );
    expect(lines(plan)).toEqual([
      'read-only /',
      'empty /home',
      'read-only /home/ann',
      'empty /home/ann/.ssh',
      'writable /home/ann/work',
    ]);
  });

  test('of the same path the strictest that was said of it wins', () => {
    const plan = planMounts(
      view({
        hidden: [file('/h/key'), directory('/h/work')],
        writable: ['/h/work', '/h/both', '/h/denied'],
        readOnly: ['/h/key', '/h/both'],
        denied: [directory('/h/denied')],
      }),
    );
    expect(lines(plan)).toEqual([
      'read-only /',
      'read-only /h/both',
      'empty /h/denied',
      'read-only /h/key',
      'writable /h/work',
    ]);
  });

  test('nothing is shown in what is denied', () => {
    const plan = planMounts(
      view({ denied: [directory('/d'), file('/d/x')], writable: ['/d/work'], readOnly: ['/d/y'] }),
    );
    expect(lines(plan)).toEqual(['read-only /', 'empty /d']);
  });

  test('directories around what is hidden cannot be renamed, up to the writable one', () => {
    const plan = planMounts(
      view({ writable: ['/w'], denied: [file('/w/a/b/.env')], hidden: [directory('/w/h')] }),
    );
    expect(lines(plan)).toEqual([
      'read-only /',
      'writable /w',
      'writable /w/a',
      'empty /w/h',
      'writable /w/a/b',
      'blank /w/a/b/.env',
    ]);
  });

  test('a directory that is hidden or read-only is not opened to keep its name', () => {
    const plan = planMounts(
      view({ writable: ['/w'], hidden: [directory('/w/h')], denied: [file('/w/h/x/y')] }),
    );
    expect(lines(plan)).toEqual(['read-only /', 'writable /w', 'empty /w/h', 'blank /w/h/x/y']);
  });

  test('only what is the same on the host is compared with it', () => {
    const plan = planMounts(view({ writable: ['/w'], private: [{ path: '/tmp', source: '/p/0' }] }));
    expect(rootsOf(plan)).toEqual(['/w']);
  });
});

test('bubblewrap gets every option, and last that hidden places are read-only', () => {
  const mounts: readonly Mount[] = [
    { type: 'read-only', path: '/' },
    { type: 'empty', path: '/home' },
    { type: 'writable', path: '/tmp', source: '/p/0' },
    { type: 'blank', path: '/w/.env' },
  ];
  const abilities = { userNamespace: true, bansUserNamespaces: true, filtersCalls: true };
  const order = { mounts, workingDirectory: '/w', environment: { A: 'b c' }, hasNetwork: false, abilities };
  expect(bwrapArguments(order).join(' ')).toBe(
    [
      '--die-with-parent --new-session --cap-drop ALL --unshare-user --disable-userns',
      '--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net',
      '--ro-bind / / --dev /dev --proc /proc --remount-ro /proc',
      '--tmpfs /home --bind /p/0 /tmp --ro-bind /dev/null /w/.env',
      '--remount-ro /home --chdir /w --clearenv --setenv A b c',
    ].join(' '),
  );
});
