import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const mostFiles = 2000;
const mostLevels = 16;

/** The files below a directory, by their names within it; links are not followed. Throws where there is none, or too many. */
export async function filesBelow(directory: string): Promise<readonly string[]> {
  const files: string[] = [];
  const look = async (within: string, level: number): Promise<void> => {
    for (const entry of await readdir(join(directory, within), { withFileTypes: true })) {
      const name = within === '' ? entry.name : `${within}/${entry.name}`;
      if (entry.isFile()) files.push(name);
      if (files.length > mostFiles) throw new Error(`it has more than ${mostFiles} files`);
      if (entry.isDirectory() && level < mostLevels) await look(name, level + 1);
    }
  };
  await look('', 0);
  return files.sort();
}
