import type { Environment } from '@groundcrew/models';
import { isSecretOfRuntime } from '@groundcrew/runtime';

/**
 * The variables that headers of a client's provider may name: those that the operator lists, and never a key or token that the
 * runtime itself goes by. Any client could have them sent to an address of its own.
 */
export function clientVariables(environment: Environment, listed: readonly string[]): Environment {
  const allowed = listed.filter((name) => Object.hasOwn(environment, name) && !isSecretOfRuntime(name));
  return Object.fromEntries(allowed.map((name) => [name, environment[name]]));
}
