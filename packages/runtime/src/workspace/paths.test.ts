import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HeldDirectory } from './directory.js';
import { BadPath, isWithin, locate, openPlace, PlaceChanged } from './paths.js';

let root = '';
const inside = (...names: readonly string[]) => join(root, 'work', ...names);
const outside = (...names: readonly string[]) => join(root, 'outside', ...names);
const bounds = () => ({ workingDirectory: inside(), allowedDirectories: [inside()] });

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'groundcrew-paths-')));
  mkdirSync(inside('sub'), { recursive: true });
  mkdirSync(outside());
  writeFileSync(inside('a.txt'), 'inside');
  writeFileSync(outside('secret.txt'), 'secret');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a path that no system opens is refused before any of its parts is looked for', async () => {
  await expect(locate('a/'.repeat(700_000), bounds())).rejects.toThrow('A path has at most 32767 characters');
});

test('a relative path is found in the working directory', async () => {
  expect(await locate('./sub/../a.txt', bounds())).toEqual({
    path: inside('a.txt'),
    real: inside('a.txt'),
    kind: 'file',
    isInside: true,
  });
});

test('dots, absolute paths and names that only begin alike lead outside', async () => {
  mkdirSync(`${inside()}-other`);
  for (const path of ['../outside/secret.txt', outside('secret.txt'), '../work-other', '/', '..']) {
    expect([path, (await locate(path, bounds())).isInside]).toEqual([path, false]);
  }
});

test('a link is judged by where it leads, the whole way', async () => {
  symlinkSync(outside('secret.txt'), inside('link.txt'));
  symlinkSync(outside(), inside('dir'));
  symlinkSync('dir', inside('again'));
  symlinkSync(inside('a.txt'), outside('back'));
  expect(await locate('link.txt', bounds())).toMatchObject({ real: outside('secret.txt'), isInside: false });
  expect(await locate('again/secret.txt', bounds())).toMatchObject({ isInside: false });
  expect(await locate('again/new.txt', bounds())).toMatchObject({
    real: outside('new.txt'),
    kind: 'missing',
    isInside: false,
  });
  expect(await locate('dir/back', bounds())).toMatchObject({ real: inside('a.txt'), isInside: true });
});

test('a link to nothing is something, and where it points to is what counts', async () => {
  symlinkSync(outside('new.txt'), inside('dangling'));
  expect(await locate('dangling', bounds())).toEqual({
    path: inside('dangling'),
    real: outside('new.txt'),
    kind: 'other',
    isInside: false,
  });
});

test('a link that leads to itself is an error and no place', async () => {
  symlinkSync('loop', inside('loop'));
  await expect(locate('loop', bounds())).rejects.toMatchObject({ code: 'ELOOP' });
});

test('the home of the runtime is outside a directory around it, but for what is allowed in it', async () => {
  mkdirSync(inside('.home', 'own'), { recursive: true });
  symlinkSync('.home', inside('alias'));
  const around = {
    workingDirectory: inside(),
    allowedDirectories: [inside(), inside('.home', 'own')],
    homeDirectory: inside('alias'),
  };
  const isInside = async (path: string) => (await locate(path, around)).isInside;
  expect(
    await Promise.all(['.home/permissions.json', 'alias', '.home/own/x', 'a.txt'].map(isInside)),
  ).toEqual([false, false, true, true]);
});

test('an allowed directory may itself be named by a link', async () => {
  symlinkSync(inside(), join(root, 'alias'));
  const aliased = { workingDirectory: join(root, 'alias'), allowedDirectories: [join(root, 'alias')] };
  expect(await locate('a.txt', aliased)).toMatchObject({ real: inside('a.txt'), isInside: true });
});

test('NUL in a path is refused', async () => {
  await expect(locate('a.txt\0.png', bounds())).rejects.toThrow(BadPath);
});

test.runIf(process.platform === 'linux')('the files of the runtime itself are never opened', async () => {
  const everywhere = { workingDirectory: '/', allowedDirectories: ['/'] };
  const paths = ['/proc/self/environ', `/proc/${process.pid}/environ`, '/proc/thread-self/mem', '/dev/fd'];
  for (const path of paths) await expect(locate(path, everywhere), path).rejects.toThrow(BadPath);
});

test.runIf(process.platform === 'linux')(
  'what the kernel shows is outside even when everything is allowed',
  async () => {
    const everywhere = { workingDirectory: '/', allowedDirectories: ['/'] };
    expect(await locate('/proc/self/root/etc/hostname', everywhere)).toMatchObject({ isInside: true });
    expect(await locate('/proc/1/environ', everywhere)).toMatchObject({ isInside: false });
    expect(await locate('/dev/null', everywhere)).toMatchObject({ kind: 'other', isInside: false });
  },
);

test('a file that became a link after it was judged is not opened', async () => {
  const place = await locate('a.txt', bounds());
  rmSync(inside('a.txt'));
  symlinkSync(outside('secret.txt'), inside('a.txt'));
  await expect(openPlace(place)).rejects.toThrow(PlaceChanged);
});

test('a directory on the way that became a link after it was judged is noticed', async () => {
  writeFileSync(inside('sub', 'secret.txt'), 'harmless');
  const place = await locate('sub/secret.txt', bounds());
  renameSync(inside('sub'), inside('was-sub'));
  symlinkSync(outside(), inside('sub'));
  await expect(openPlace(place)).rejects.toThrow(PlaceChanged);
});

test('what is written goes to the directory that was judged, wherever its path leads by now', async () => {
  const place = await locate('sub', bounds());
  await HeldDirectory.use(place, async (directory) => {
    renameSync(inside('sub'), inside('was-sub'));
    symlinkSync(outside(), inside('sub'));
    const written = directory.create('new.txt', Buffer.from('x'));
    if (process.platform === 'linux') await written;
    else await expect(written).rejects.toThrow(PlaceChanged);
  });
  expect(() => readFileSync(outside('new.txt'))).toThrow('ENOENT');
});

test('to replace a file leaves its other names with what they had', async () => {
  linkSync(outside('secret.txt'), inside('hard.txt'));
  await HeldDirectory.use(await locate('.', bounds()), (directory) =>
    directory.replace('hard.txt', Buffer.from('mine'), {
      mode: 0o644,
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
    }),
  );
  expect(readFileSync(inside('hard.txt'), 'utf8')).toBe('mine');
  expect(readFileSync(outside('secret.txt'), 'utf8')).toBe('secret');
});

test('whatever path is named: inside is only what a path free of links shows to be inside', async () => {
  symlinkSync(outside(), inside('out'));
  symlinkSync('..', inside('sub', 'up'));
  symlinkSync(inside('sub'), outside('in'));
  const name = fc.constantFrom(
    '..',
    '.',
    'sub',
    'up',
    'out',
    'in',
    'a.txt',
    'secret.txt',
    'new',
    'ünï ',
    '-x',
  );
  const path = fc
    .tuple(
      fc.constantFrom('', '/', `${root}/`, `${inside()}/`, `${outside()}/`),
      fc.array(name, { maxLength: 8 }),
    )
    .map(([start, names]) => start + names.join('/'));
  await fc.assert(
    fc.asyncProperty(path, async (each) => {
      const place = await locate(each, bounds());
      expect(place.path).toBe(resolve(inside(), each));
      expect(place.isInside).toBe(isWithin(inside(), place.real));
      if (place.kind === 'missing') return;
      expect(place.real).toBe(realpathSync(place.path));
      const handle = await openPlace(place);
      await handle.close();
    }),
    { numRuns: 500 },
  );
});
