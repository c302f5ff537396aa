import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlainFile } from '@groundcrew/store';
import { absent, isAbsent } from '../workspace/absent.js';

/**
 * Directories below a work tree that are repositories of their own, whether git knows of them or not; undefined when there
 * are too many directories to look at. Packages that are installed and ignored are left out: git does not add them.
 */
export async function repositoriesBelow(
  root: string,
  { withIgnored }: { readonly withIgnored: boolean },
): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  const waiting = [root];
  const ignoresPackages = !withIgnored && ignoresInstalled(root);
  for (let looked = 0; waiting.length > 0; looked += 1) {
    if (looked >= mostDirectories) return undefined;
    const directory = waiting.pop() ?? root;
    const entries = (await readdir(directory, { withFileTypes: true }).catch(absent)) ?? [];
    if (directory !== root && entries.some(({ name }) => name.toLowerCase() === '.git'))
      found.push(directory);
    // One file may take back what another one ignores.
    if (directory !== root && entries.some(({ name }) => name === '.gitignore') && takesBack(directory))
      return undefined;
    const below = entries.filter((entry) => entry.isDirectory() && !/^\.git$/i.test(entry.name));
    const visited = below.filter(({ name }) => name !== 'node_modules' || !ignoresPackages);
    waiting.push(...visited.map(({ name }) => join(directory, name)));
  }
  return found;
}

const mostDirectories = 4000;

function ignoresInstalled(root: string): boolean {
  const text = rulesIn(root);
  return /^(?:\*\*\/)?node_modules\/?[ \t\r]*$/m.test(text) && !/^!/m.test(text);
}

function takesBack(directory: string): boolean {
  return /^!.*(?:node_modules|\*)/m.test(rulesIn(directory));
}

/** What cannot be read may say anything. */
function rulesIn(directory: string): string {
  try {
    const text = readPlainFile(join(directory, '.gitignore'), longestRules);
    return text.length < longestRules ? text : '!*';
  } catch (error) {
    return isAbsent(error) ? '' : '!*';
  }
}

const longestRules = 64 * 1024;
