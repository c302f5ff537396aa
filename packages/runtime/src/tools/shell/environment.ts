/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The user's environment without what was given to the runtime alone: commands, and so the model, never see its tokens. */
export function commandEnvironment(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !isSecretOfRuntime(entry[0]),
    ),
  );
}

function isSecretOfRuntime(name: string): boolean {
  return (
    /^(?:COPILOT|GROUNDCREW|CAPI)_(?:.*_)?(?:TOKEN|KEY|SECRET|PASSWORD|CREDENTIALS?|AUTH|HEADERS)(?:_|$)/i.test(
      name,
    ) || name === 'GROUNDCREW_FAILPOINT'
  );
}
