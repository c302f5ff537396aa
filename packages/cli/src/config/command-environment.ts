import type { Environment } from '@groundcrew/models';
import { namesIn } from '../flags/arguments.js';
import { configPath } from './home.js';
import { settingsText } from './settings-text.js';

/** The environment for commands, without what opens the store and what headers of model services and signatures of webhooks are made of. */
export function commandEnvironment(environment: Environment, homeDirectory: string): Environment {
  const source = sourceOf(configPath(homeDirectory));
  const inFile = [...source.matchAll(/\$\{([A-Za-z_]\w*)/g)].map(([, name]) => name);
  const listed = /"headerVariables"\s*:\s*\[([^\]]*)\]/.exec(source)?.[1] ?? '';
  const secret = new Set([
    // The address of the store opens every session there is.
    'GROUNDCREW_NATS',
    'GROUNDCREW_STORE',
    ...inFile,
    ...[...listed.matchAll(/"([^"]*)"/g)].map(([, name]) => name),
    ...[...source.matchAll(/"secretVariable"\s*:\s*"([^"]*)"/g)].map(([, name]) => name),
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

/** Settings that cannot be read are reported where they are used. */
function sourceOf(path: string): string {
  try {
    return settingsText(path) ?? '';
  } catch {
    return '';
  }
}
