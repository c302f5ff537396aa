/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The user's environment without the keys and tokens that the runtime itself goes by: commands, and so the model and the
 * log, never see them, unless `GROUNDCREW_SHELL_ENV` names them.
 */
export function commandEnvironment(environment: Environment): Record<string, string> {
  const wanted = (environment.GROUNDCREW_SHELL_ENV ?? '').split(',').map((name) => name.trim());
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (wanted.includes(entry[0]) || !isSecretOfRuntime(entry[0])),
    ),
  );
}

/** With CDPATH a change of directory leads elsewhere than its words say. */
function isSecretOfRuntime(name: string): boolean {
  return (
    ownSecret.test(name) || credentials.has(name) || name === 'GROUNDCREW_FAILPOINT' || name === 'CDPATH'
  );
}

const ownSecret =
  /^(?:COPILOT|GROUNDCREW|CAPI)_(?:.*_)?(?:TOKEN|KEY|SECRET|PASSWORD|CREDENTIALS?|AUTH|HEADERS)(?:_|$)/i;

/** What other programs use as well, and the runtime to reach a model. */
const credentials: ReadonlySet<string> = new Set([
  'ANTHROPIC_API_KEY',
  'AZURE_OPENAI_API_KEY',
  'GH_TOKEN',
  'GITHUB_TOKEN',
  'OPENAI_API_KEY',
]);
