import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSecretOfRuntime } from '@groundcrew/runtime';
import type { Environment } from './home.js';

/**
 * The variables that headers of a client's provider may name: those that the operator lists, and never a key or token that the
 * runtime itself goes by. Any client could have them sent to an address of its own.
 */
export function clientVariables(environment: Environment, listed: readonly string[] = []): Environment {
  const names = [...listed, ...namesIn(environment.GROUNDCREW_HEADER_ENV)];
  const allowed = names.filter((name) => Object.hasOwn(environment, name) && !isSecretOfRuntime(name));
  return Object.fromEntries(allowed.map((name) => [name, environment[name]]));
}

/** The environment for commands, without what headers of model services are made of. */
export function withoutHeaderSecrets(environment: Environment, homeDirectory: string): Environment {
  const source = sourceOf(join(homeDirectory, 'config.json'));
  const inFile = [...source.matchAll(/\$\{([A-Za-z_]\w*)/g)].map(([, name]) => name);
  const listed = /"headerVariables"\s*:\s*\[([^\]]*)\]/.exec(source)?.[1] ?? '';
  const secret = new Set([
    ...inFile,
    ...[...listed.matchAll(/"([^"]*)"/g)].map(([, name]) => name),
    ...namesIn(environment.GROUNDCREW_HEADER_ENV),
  ]);
  const wanted = new Set(namesIn(environment.GROUNDCREW_SHELL_ENV));
  const kept = Object.entries(environment).filter(
    ([name]) => !secret.has(name) || wanted.has(name) || common.has(name),
  );
  return Object.fromEntries(kept);
}

/** What commands cannot do without, and what is no secret. */
const common: ReadonlySet<string> = new Set([
  'HOME',
  'LANG',
  'LOGNAME',
  'PATH',
  'PWD',
  'SHELL',
  'TMPDIR',
  'USER',
]);

function namesIn(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Whoever reads the settings for what they say is told when they cannot be read. */
function sourceOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
