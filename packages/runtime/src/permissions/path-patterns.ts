import { relative, resolve, sep } from 'node:path';
import { globMatcher } from '../workspace/glob-pattern.js';
import { isWithin } from '../workspace/paths.js';

/** Whether a whole path is what a rule names: a file, a directory with all in it, or a pattern with all below what it matches. */
export function patternCovers(pattern: string, workingDirectory: string): (path: string) => boolean {
  if (!/[*?[{]/.test(pattern)) {
    const root = folded(resolve(workingDirectory, pattern));
    return (path) => isWithin(root, folded(path));
  }
  const matches = globMatcher(folded(pattern), { orBelow: true });
  if (/^(?:\/|\*\*\/|[^/]*$)/.test(pattern)) return (path) => matches(slashed(path));
  const root = folded(resolve(workingDirectory));
  return (path) => isWithin(root, folded(path)) && matches(relative(root, slashed(path)));
}

/** As the matcher reads it. */
function slashed(path: string): string {
  return folded(path).split(sep).join('/');
}

const ignoresCase = process.platform === 'darwin' || process.platform === 'win32';

/** Where the file system makes no difference between upper and lower case, neither do rules. */
function folded(path: string): string {
  return ignoresCase ? path.toLowerCase() : path;
}
