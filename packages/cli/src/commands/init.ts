import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { starterFiles } from '../starter/starter-files.js';
import { exitCodes } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';
import { defineCommand, show } from './command.js';

/** `groundcrew init`: a starter app that passes its own test. */
export const init = defineCommand({
  usage: ['groundcrew init [DIR]'],
  summary: 'Writes a starter app: an agent with a tool in TypeScript, a test, a Dockerfile',
  flags: {},
  notes: `DIR is created if it is missing; default: the current directory. A file that is already there is never replaced:
the command names it and writes nothing.`,
  mostWords: 1,
  run: async ({ words: [given = '.'] }, terminal) => {
    const folder = resolve(terminal.workingDirectory, given);
    const files = starterFiles({ name: packageName(folder), version: terminal.version });
    const there = [...files.keys()].filter((name) => existsSync(join(folder, name)));
    if (there.length > 0) {
      const names = there.map(visible).join(', ');
      terminal.errorOutput.write(
        `${names}: already there, so nothing was written. Name an empty directory: groundcrew init my-agent\n`,
      );
      return exitCodes.failed;
    }
    for (const [name, text] of files) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text, { flag: 'wx' });
    }
    const place = relative(terminal.workingDirectory, folder);
    const steps = [
      ...(place === '' ? [] : [`cd ${inShell(visible(place))}`]),
      'npm install',
      'npm test',
      'npm start',
    ];
    return show(`Wrote ${[...files.keys()].join(', ')}.\nNext: ${steps.join(' && ')}`, terminal);
  },
});

/** A path as a word of a shell. */
function inShell(path: string): string {
  const place = path.startsWith('-') ? `./${path}` : path;
  return /^[\w./@%+:,-]+$/.test(place) ? place : `'${place.replaceAll("'", "'\\''")}'`;
}

/** A name that npm takes, made of that of the directory. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'my-agent' : name;
}
