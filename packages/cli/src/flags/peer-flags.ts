import { entryOf, UsageError } from './arguments.js';

/** How a flag of the Copilot CLI takes a value; `optional` ones take words that follow as well. */
type Arity = 'none' | 'one' | 'optional';

/** Flags of the Copilot CLI that ask for what is so here anyway. */
const alreadySo: Readonly<Record<string, Arity>> = {
  '--no-auto-update': 'none',
  '--no-bash-env': 'none',
  '--no-color': 'none',
  '--no-eager-powershell-resolution': 'none',
  '--no-experimental': 'none',
  '--no-mouse': 'none',
  '--no-remote': 'none',
  '--no-remote-export': 'none',
  '--disable-builtin-mcps': 'none',
  '--plain-diff': 'none',
  '--screen-reader': 'none',
};

/** Flags of the Copilot CLI that permit, add or show something, and change nothing here. */
const withoutEffect: Readonly<Record<string, Arity>> = {
  '--add-dir': 'one',
  '--add-github-mcp-tool': 'one',
  '--add-github-mcp-toolset': 'one',
  '--additional-mcp-config': 'one',
  '--agent': 'one',
  '--allow-all': 'none',
  '--allow-all-mcp-server-instructions': 'none',
  '--allow-all-paths': 'none',
  '--allow-all-tools': 'none',
  '--allow-all-urls': 'none',
  '--allow-tool': 'optional',
  '--allow-url': 'optional',
  '--assisted-approval': 'none',
  '--autopilot': 'none',
  '--banner': 'none',
  '--bash-env': 'optional',
  '--context': 'one',
  '--disable-mcp-server': 'one',
  '--effort': 'one',
  '--enable-all-github-mcp-tools': 'none',
  '--enable-mcp-server': 'one',
  '--enable-memory': 'none',
  '--enable-reasoning-summaries': 'none',
  '--experimental': 'none',
  '--extension-sdk-path': 'one',
  '--log-dir': 'one',
  '--max-autopilot-continues': 'one',
  '--mode': 'one',
  '--model': 'one',
  '--mouse': 'optional',
  '--name': 'one',
  '--no-ask-user': 'none',
  '--output-format': 'one',
  '--plan': 'none',
  '--plugin-dir': 'one',
  '--reasoning-effort': 'one',
  '--remote': 'none',
  '--remote-export': 'none',
  '--silent': 'none',
  '--stream': 'one',
  '--usage-output-file': 'one',
  '--yolo': 'none',
};

/** Flags of the Copilot CLI that protect: without effect they would leave an app unprotected. What to do instead. */
const refused: Readonly<Record<string, string>> = {
  '--available-tools': 'Name the tools in availableTools of session.create.',
  '--deny-tool': 'Write deny rules into permissions.json in the home.',
  '--deny-url': 'Write deny rules into permissions.json in the home.',
  '--disallow-temp-dir': 'Write deny rules into permissions.json in the home.',
  '--excluded-tools': 'Name the tools in excludedTools of session.create.',
  '--max-ai-credits': 'Name the limit in sessionLimits of session.create.',
  '--secret-env-vars': 'Start the program without these variables.',
};

/** A flag of the Copilot CLI that was met on a command line. */
export interface PeerFlag {
  /** How many arguments belong to it, itself included. */
  readonly length: number;
  /** What the caller who gave it should know. */
  readonly warnings: readonly string[];
}

/** Reads a flag of the Copilot CLI at the start of `argv`; undefined when it is none. Throws UsageError. */
export function readPeerFlag(argv: readonly string[], name: string, inline?: string): PeerFlag | undefined {
  const instead = entryOf(refused, name);
  if (instead !== undefined)
    throw new UsageError(`${name} is not built here, and without it you would be less protected. ${instead}`);
  const quiet = entryOf(alreadySo, name);
  const arity = quiet ?? entryOf(withoutEffect, name);
  if (arity === undefined) return undefined;
  const length = inline === undefined ? 1 + valuesOf(arity, argv.slice(1), name) : 1;
  return { length, warnings: quiet ? [] : [`${name} is accepted for compatibility and has no effect.`] };
}

/** The names of those that are accepted, and of those that are refused because they protect. */
export const peerFlagNames = {
  accepted: Object.keys({ ...alreadySo, ...withoutEffect }).sort(),
  refused: Object.keys(refused),
};

function valuesOf(arity: Arity, following: readonly string[], name: string): number {
  if (arity === 'none') return 0;
  const end = following.findIndex((word) => word.startsWith('-'));
  const words = end < 0 ? following.length : end;
  if (arity === 'optional') return words;
  if (following.length === 0) throw new UsageError(`${name} needs a value`);
  return 1;
}
