import { ownEntry } from '../../own-entry.js';

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The user's environment without the keys and tokens that the runtime itself goes by: commands, and so the model and the
 * log, never see them, unless `GROUNDCREW_SHELL_ENV` names them.
 */
export function commandEnvironment(environment: Environment): Record<string, string> {
  const wanted = (environment.GROUNDCREW_SHELL_ENV ?? '').split(',').map((name) => name.trim());
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]): [string, string][] => {
      if (value === undefined) return [];
      if (wanted.includes(name)) return [[name, value]];
      // With CDPATH a change of directory leads elsewhere than its words say.
      if (isSecretOfRuntime(name) || name === 'CDPATH') return [];
      return [[name, proxyName.test(name) ? withoutPassword(value) : value]];
    }),
  );
}

/** `HTTPS_PROXY`, `all_proxy`, `npm_config_proxy` and their like. */
const proxyName = /(?:^|_)(?<!no_)proxy$/i;

/** The address of a proxy without the name and password of its user. */
function withoutPassword(address: string): string {
  return address.replace(/^(\s*(?:[a-z][a-z\d+.-]*:\/\/)?).*@/is, '$1');
}

/** Values with `${NAME}` replaced by the variable of that name, or by nothing where there is none. */
export function expandedValues(
  values: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+)\}/g, (_, inner: string) => ownEntry(environment, inner) ?? ''),
    ]),
  );
}

/** Whether a variable holds a key or token that the runtime itself goes by. */
export function isSecretOfRuntime(name: string): boolean {
  return (
    ownSecret.test(name) || ofCollector.test(name) || credentials.has(name) || name === 'GROUNDCREW_FAILPOINT'
  );
}

const ownSecret =
  /^(?:COPILOT|GROUNDCREW|CAPI)_(?:.*_)?(?:TOKEN|KEY|SECRET|PASSWORD|CREDENTIALS?|AUTH|HEADERS)(?:_|$)/i;

/** What traces and metrics are sent with. */
const ofCollector = /^OTEL_EXPORTER_OTLP_(?:\w+_)?HEADERS$/i;

/** What other programs use as well, and the runtime to reach a model. */
const credentials: ReadonlySet<string> = new Set([
  'ANTHROPIC_API_KEY',
  'AZURE_OPENAI_API_KEY',
  'GH_TOKEN',
  'GITHUB_TOKEN',
  'OPENAI_API_KEY',
]);
