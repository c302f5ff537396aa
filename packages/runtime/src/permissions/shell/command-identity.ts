import type { KnownWord } from './command-word.js';
import { plainName } from './plain-name.js';
import { isInTable } from './programs/table.js';
import { runsOthers } from './wrappers.js';

/** What a command is called when users approve it, and whether more must be known before they may. */
export interface Identity {
  readonly identifier: string;
  /** Why an approval of this name would approve more than it says. */
  readonly problem?: string;
}

/** Names a command finely enough that to approve one use is to approve the like: `git status`, `npm run build`. */
export function identify(name: string, words: readonly KnownWord[]): Identity {
  const program = plainName(name);
  if (isInterpreter(program)) return interpreted(name, words);
  const tool = tools.get(program);
  if (!tool || words.length === 0) return { identifier: name };
  const at = firstOperand(tool, words);
  const subcommand = words[at];
  if (!subcommand) return { identifier: name };
  const isPlain = subcommand.kind === 'literal' && !subcommand.value.startsWith('-');
  if (!isPlain) return withoutSubcommand(name, words);
  const identifier = `${name} ${subcommand.value}`;
  const isUnknown = tool.inside?.includes(subcommand.value) || (tool.isRunner && isForeign(subcommand.value));
  if (isUnknown) return { identifier, problem: `what \`${identifier}\` runs is not known` };
  const runs = tool.runs?.includes(subcommand.value);
  const inner = words[at + 1];
  if (!inner || !(runs || tool.nested?.includes(subcommand.value))) return { identifier };
  const isHidden = runs ? isForeign(inner.value) : tool.inside?.includes(inner.value);
  if (inner.kind === 'literal' && isHidden)
    return {
      identifier: `${identifier} ${inner.value}`,
      problem: `what \`${identifier} ${inner.value}\` runs is not known`,
    };
  if (inner.kind === 'literal' && !inner.value.startsWith('-'))
    return { identifier: `${identifier} ${inner.value}` };
  return runs ? { identifier, problem: `what \`${identifier}\` runs is not known` } : { identifier };
}

/** Where a tool's subcommand stands, given its words: -1 when that is not known. */
export function subcommandAt(name: string, words: readonly KnownWord[]): number {
  const tool = tools.get(plainName(name));
  if (!tool) return -1;
  const at = firstOperand(tool, words);
  return at >= 0 && !words[at]?.value.startsWith('-') ? at : -1;
}

/** A tool that is approved by the name of its sub-command. */
function isNamedTool(name: string): boolean {
  return tools.has(plainName(name));
}

/** What it runs is named in front of all options: the words behind are for that to read. */
function runsNamed(name: string, words: readonly KnownWord[]): boolean {
  const tool = tools.get(plainName(name));
  const [first, second] = words;
  if (!tool || !first || first.value.startsWith('-')) return false;
  if (tool.isRunner) return true;
  return tool.runs?.includes(first.value) === true && second !== undefined && !second.value.startsWith('-');
}

interface MultiTool {
  /** Options that may stand before the subcommand. */
  readonly flags?: readonly string[];
  /** The same, with a value in the next word. */
  readonly valued?: readonly string[];
  /** Subcommands that take another one. */
  readonly nested?: readonly string[];
  /** Subcommands that take the name of what they run. */
  readonly runs?: readonly string[];
  /** Subcommands that run any command somewhere else. */
  readonly inside?: readonly string[];
  /** Its subcommand is the name of what it runs. */
  readonly isRunner?: boolean;
}

const packageManager: MultiTool = {
  nested: ['audit'],
  runs: ['run', 'run-script', 'exec', 'x', 'dlx', 'rum', 'urn'],
};
const container: MultiTool = {
  nested: ['compose', 'container', 'image', 'volume', 'network', 'system'],
  inside: ['exec', 'run'],
};
const plain: MultiTool = {};

const tools = new Map<string, MultiTool>([
  [
    'git',
    {
      flags: ['--no-pager', '-P', '--no-optional-locks'],
      valued: ['-C'],
      nested: ['stash', 'remote', 'worktree', 'submodule', 'bisect', 'notes', 'reflog'],
    },
  ],
  ['npm', packageManager],
  ['pnpm', packageManager],
  ['yarn', packageManager],
  ['bun', packageManager],
  [
    'gh',
    {
      nested:
        'pr issue repo run release workflow auth alias extension api gist label secret variable cache project codespace config'.split(
          ' ',
        ),
    },
  ],
  ['docker', container],
  ['podman', container],
  ['kubectl', { nested: ['rollout'], inside: ['exec', 'run', 'debug'] }],
  ...['npx', 'bunx', 'pnpx', 'uvx'].map((name): [string, MultiTool] => [name, { isRunner: true }]),
  ['go', { nested: ['mod'], runs: ['run', 'tool'] }],
  ['cargo', plain],
  ['uv', { nested: ['pip', 'tool'], runs: ['run'] }],
  ...['poetry', 'pipenv', 'pdm', 'hatch', 'rye', 'pipx'].map((name): [string, MultiTool] => [
    name,
    { runs: ['run'] },
  ]),
  ['deno', { runs: ['run', 'task', 'test', 'bench', 'serve', 'x'], inside: ['eval', 'repl'] }],
  ...['bundle', 'composer'].map((name): [string, MultiTool] => [name, { runs: ['exec'] }]),
  ...['conda', 'rustup', 'mise', 'asdf', 'nix'].map((name): [string, MultiTool] => [
    name,
    { inside: ['run', 'exec', 'x', 'shell', 'develop'] },
  ]),
  ['terraform', { nested: ['state', 'workspace'] }],
  ...['pip', 'pip3', 'helm', 'dotnet', 'systemctl'].map((name): [string, MultiTool] => [name, plain]),
  ...['apt', 'apt-get', 'brew', 'dnf', 'yum', 'apk', 'snap', 'make', 'just', 'rake', 'gradle', 'mvn'].map(
    (name): [string, MultiTool] => [name, plain],
  ),
  ...['gem', 'aws', 'gcloud', 'az', 'svn', 'hg'].map((name): [string, MultiTool] => [name, plain]),
]);

/** The first word that is none of the options known to stand before the subcommand, nor the value of one. */
function firstOperand({ flags = [], valued = [] }: MultiTool, words: readonly KnownWord[]): number {
  return words.findIndex(({ value }, index) => {
    const isOption = flags.includes(value) || valued.includes(value);
    return !isOption && !valued.includes(words[index - 1]?.value ?? '');
  });
}

/** `git --version` says all there is; `git -c alias.x=… x` may run anything. */
function withoutSubcommand(name: string, words: readonly KnownWord[]): Identity {
  const [only] = words;
  if (words.length === 1 && only && /^--?(?:version|help|v|V|h)$/.test(only.value))
    return { identifier: `${name} ${only.value}` };
  return { identifier: name, problem: `what \`${name}\` is asked to do is not known` };
}

/** Its own words decide what it runs. */
function isForeign(name: string): boolean {
  return isInterpreter(plainName(name)) || runsOthers(name);
}

const interpreters =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|ruby|perl|php|lua|tsx|ts-node|Rscript|osascript)$/;

function isInterpreter(program: string): boolean {
  return interpreters.test(program);
}

/** A script is approved by its path, a module by its name; code on the command line, or from a pipe, never. */
function interpreted(name: string, words: readonly KnownWord[]): Identity {
  const [first, second] = words;
  if (first?.kind === 'literal') {
    const isModule = first.value === '-m' && second?.kind === 'literal';
    if (isModule) return { identifier: `${name} -m ${second.value}` };
    if (words.length === 1 && /^(?:--version|-v|-V|--help)$/.test(first.value))
      return { identifier: `${name} ${first.value}` };
    if (!first.value.startsWith('-')) return { identifier: `${name} ${first.value}` };
  }
  return { identifier: name, problem: `\`${name}\` runs code that is no file` };
}

/**
 * Whether an approval of a command's name covers these words though the table does not understand them. Of a program that
 * the table has, only what it understands is covered. Of a tool whose sub-commands are known, no options are known. Of any
 * other program an approval is for any use, in words that stand for themselves.
 */
export function isCoveredByName(name: string, words: readonly KnownWord[]): boolean {
  if (isInTable(name)) return false;
  if (!isNamedTool(name) || runsNamed(name, words)) return true;
  return words.every(({ value }) => !value.startsWith('-'));
}
