import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { circlesIn, roomsOf } from './rooms.js';

/** Fails when folders of a package import one another in a circle, or a room or door grows past its bound. */
const mostFilesOfSession = 15;
const mostNamesOfRuntime = 60;

const packages = readdirSync('packages').filter((name) => existsSync(`packages/${name}/src`));
const problems = packages.flatMap((name) => {
  const rooms = roomsOf(name);
  return circlesIn(rooms).map((circle) => {
    const arrows = circle.flatMap((from) =>
      [...(rooms.get(from) ?? [])].filter((to) => circle.includes(to)).map((to) => `${from} -> ${to}`),
    );
    return `packages/${name}/src: folders import one another in a circle: ${arrows.join(', ')}`;
  });
});

const session = readdirSync('packages/runtime/src/session').filter((name) => !name.endsWith('.test.ts'));
if (session.length > mostFilesOfSession)
  problems.push(
    `packages/runtime/src/session has ${session.length} files, at most ${mostFilesOfSession}: find a room for some of them`,
  );

const door = readFileSync('packages/runtime/src/index.ts', 'utf8');
const names = [...door.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
  list.split(',').filter((name) => name.trim() !== ''),
);
if (names.length > mostNamesOfRuntime)
  problems.push(
    `packages/runtime exports ${names.length} names, at most ${mostNamesOfRuntime}: give some of them to the session, or to the package that uses them`,
  );

for (const problem of problems) console.error(problem);
console.log(`${problems.length} problems with rooms`);
process.exitCode = problems.length > 0 ? 1 : 0;
