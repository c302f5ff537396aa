import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import ts from 'typescript';

/** Which rooms of a package import which. A room is a folder directly below `src`; a file beside the folders is one by itself. */
export type Rooms = ReadonlyMap<string, ReadonlySet<string>>;

const isTest = /(\.test\.tsx?$|\/(chaos|contract)\/)/;

/** Reads the arrows between the rooms of one package from its imports, tests excepted. */
export function roomsOf(packageName: string): Rooms {
  const root = join('packages', packageName, 'src');
  const rooms = new Map<string, Set<string>>();
  for (const file of sourceFiles(root)) {
    const from = roomOf(root, file);
    const targets = rooms.get(from) ?? new Set();
    rooms.set(from, targets);
    for (const target of importsOf(file)) {
      const to = roomOf(root, normalize(join(dirname(file), target)));
      if (to !== from && !to.startsWith('..')) targets.add(to);
    }
  }
  return rooms;
}

/** The same without the files beside the folders. */
export function foldersOf(rooms: Rooms): Rooms {
  const isFolder = (name: string) => !name.endsWith('.js');
  const folders = [...rooms].filter(([name]) => isFolder(name));
  return new Map(folders.map(([name, targets]) => [name, new Set([...targets].filter(isFolder))]));
}

/** The rooms of each circle that arrows make; none when all lead one way. */
export function circlesIn(rooms: Rooms): readonly (readonly string[])[] {
  const names = [...rooms.keys()].sort();
  const circles = names.map((name) =>
    names.filter((other) => other === name || (reaches(rooms, name, other) && reaches(rooms, other, name))),
  );
  const distinct = new Set(circles.filter(({ length }) => length > 1).map((circle) => circle.join(' ')));
  return [...distinct].map((circle) => circle.split(' '));
}

/** The arrows that the others do not imply, so that a drawing can be read. */
export function essentialArrows(rooms: Rooms): readonly (readonly [string, string])[] {
  return [...rooms].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((between) => between !== to && reaches(rooms, between, to)))
      .map((to) => [from, to] as const),
  );
}

function reaches(rooms: Rooms, from: string, to: string): boolean {
  const seen = new Set<string>();
  const waiting = [from];
  for (let room = waiting.pop(); room !== undefined; room = waiting.pop()) {
    for (const next of rooms.get(room) ?? []) {
      if (next === to) return true;
      if (!seen.has(next)) waiting.push(next);
      seen.add(next);
    }
  }
  return false;
}

/** What a file imports of its own package: by `import`, for its effect, by `import()`, in a type, or by `export from`. */
function importsOf(file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
  return importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith('.'));
}

/** The name of a file beside the folders is as it is imported, with `.js`. */
function roomOf(root: string, file: string): string {
  const [room = ''] = relative(root, file).split('/');
  return room.replace(/\.tsx?$/, '.js');
}

function sourceFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourceFiles(path);
    return /\.tsx?$/.test(entry.name) && !isTest.test(path) ? [path] : [];
  });
}
