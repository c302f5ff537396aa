import { homedir } from 'node:os';
import type { Methods, ParsedParams } from '@groundcrew/protocol';
import type { ExecutorChoice, SandboxSettings } from '@groundcrew/runtime';

type Given = Pick<ParsedParams<Methods['session.resume']>, 'sandbox' | 'sandboxConfig'>;
type Config = NonNullable<Given['sandboxConfig']>;

/** What a client wants a sandbox to be and cannot have. */
class BadSandbox extends Error {
  override readonly name = 'BadSandbox';
}

/** A client's sandbox settings; undefined when it gives none. Throws for one that no sandbox here supports. */
export function sandboxFrom({ sandbox, sandboxConfig: config }: Given): SandboxSettings | undefined {
  if (sandbox === undefined && !config) return undefined;
  if (config) requirePossible(config);
  const executor = choiceOf(sandbox, config?.enabled ?? undefined);
  const { filesystem, network, ...policy } = config?.userPolicy ?? {};
  const protection = executor === 'host' && config && protectionIn(config);
  if (protection)
    throw new BadSandbox(`sandboxConfig.${protection} needs a sandbox, and sandbox: ${sandbox} is none`);
  const keychain = policy.seatbelt?.keychainAccess ?? policy.experimental?.seatbelt?.keychainAccess;
  const unused = config ? withoutEffect(config) : [];
  return {
    ...(executor !== undefined && { executor }),
    ...(network?.allowOutbound === false && { network: false }),
    ...(config?.addCurrentWorkingDirectory === false && { writesWorkingDirectory: false }),
    writablePaths: checkedPaths(filesystem?.readwritePaths),
    readOnlyPaths: checkedPaths(filesystem?.readonlyPaths),
    deniedPaths: checkedPaths(filesystem?.deniedPaths),
    ...(typeof keychain === 'boolean' && { keychain }),
    ...(unused.length > 0 && { unused }),
  };
}

/** The setting that only a sandbox can keep, unless the policy is switched off as a whole. */
function protectionIn({ enabled, addCurrentWorkingDirectory, userPolicy }: Config): string | undefined {
  if (enabled === false) return undefined;
  if (addCurrentWorkingDirectory === false) return 'addCurrentWorkingDirectory: false';
  if (userPolicy?.network?.allowOutbound === false) return 'userPolicy.network.allowOutbound: false';
  return userPolicy?.filesystem?.deniedPaths?.length ? 'userPolicy.filesystem.deniedPaths' : undefined;
}

function choiceOf(sandbox: Given['sandbox'], enabled: boolean | undefined): ExecutorChoice | undefined {
  const named = sandbox === 'off' ? 'host' : sandbox;
  if (
    (named === 'host' && enabled === true) ||
    (named !== undefined && named !== 'host' && enabled === false)
  )
    throw new BadSandbox(
      `sandbox: ${sandbox} and sandboxConfig.enabled: ${enabled} contradict each other; leave one of them out`,
    );
  if (named !== undefined) return named;
  if (enabled === undefined) return undefined;
  return enabled ? 'required' : 'host';
}

/** A protection that cannot be given is refused: no app may rely on it. */
function requirePossible({ allowDevToolAccess, userPolicy }: Config): void {
  const { network } = userPolicy ?? {};
  if (allowDevToolAccess === false)
    throw new BadSandbox(
      'sandboxConfig.allowDevToolAccess: false cannot be held: a sandbox shows the whole disk but for what is hidden. Name what is to be hidden in userPolicy.filesystem.deniedPaths',
    );
  if (network?.proxy)
    throw new BadSandbox(
      'sandboxConfig.userPolicy.network.proxy cannot be held: nothing keeps a command from going past a proxy. Switch the network off by allowOutbound: false',
    );
  if (network?.allowLocalNetwork === false && network.allowOutbound !== false)
    throw new BadSandbox(
      'sandboxConfig.userPolicy.network.allowLocalNetwork: false cannot be held while allowOutbound is on: the network is on or off as a whole',
    );
}

/** Options that protect nothing: they are only warned about. */
function withoutEffect({ auth, userPolicy }: Config): readonly string[] {
  const { filesystem, network } = userPolicy ?? {};
  return [
    ...(auth?.git ? ['auth.git'] : []),
    ...(auth?.gh ? ['auth.gh'] : []),
    ...(filesystem?.clearPolicyOnExit ? ['userPolicy.filesystem.clearPolicyOnExit'] : []),
    ...(network?.allowOutbound === false && network.allowLocalNetwork
      ? ['userPolicy.network.allowLocalNetwork']
      : []),
  ].map((field) => `sandboxConfig.${field}`);
}

function checkedPaths(given: readonly string[] | null | undefined): readonly string[] {
  const whole = (given ?? []).map((path) => path.replace(/^~(?=\/|$)/, homedir()));
  const bad = whole.find((path) => path === '' || path.includes('\0'));
  if (bad !== undefined) throw new BadSandbox(`sandboxConfig: ${JSON.stringify(bad)} is no path`);
  return whole;
}
