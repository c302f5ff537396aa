import type { KnownWord } from '../command-word.js';
import { optionTable, parseCall } from '../options.js';
import { gitReads } from './git-reads.js';
import { gitWrites } from './git-writes.js';
import { type Understood, valuesOf } from './program.js';

const globals = optionTable(
  '-P -C: --no-pager --no-optional-locks --literal-pathspecs --glob-pathspecs --icase-pathspecs --no-replace-objects --version --help',
);

/** Git with any sub-command. Its effects depend on the settings of the repository in which it runs. */
export function git(words: readonly KnownWord[]): Understood | undefined {
  const leading = parseCall(words, globals, { stopsAtOperand: true });
  if (!leading) return undefined;
  const [name, ...rest] = leading.operands;
  const isVersion = leading.options.length === 1 && leading.options[0]?.name === '--version';
  if (!name) return isVersion ? { role: 'reads', options: [], operands: [] } : undefined;
  // It takes itself for asked about a manual page.
  if (name.kind !== 'literal' || leading.options.some(({ name: each }) => /^--(?:version|help)$/.test(each)))
    return undefined;
  const directories = valuesOf(leading, '-C');
  if (directories.length > mostDirectories) return undefined;
  const call = gitReads.get(name.value)?.(rest) ?? gitWrites.get(name.value)?.(rest);
  const inner = rest[0]?.value;
  return (
    call && { ...call, git: { subcommand: name.value, directories, ...(inner !== undefined && { inner }) } }
  );
}

/** Each is looked up, with all directories around it. */
const mostDirectories = 4;
