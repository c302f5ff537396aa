import { deniesPaths } from './exec/denied-paths.js';
import { MachineSandbox } from './exec/machine-sandbox.js';
import { placementOf, type SandboxSettings } from './exec/sandbox-settings.js';
import { type ExplainedCall, type Explanation, explain } from './permissions/explain.js';
import { newSessionPolicy } from './permissions/new-session-policy.js';
import type { PolicyRules } from './permissions/policy.js';
import { describeRule } from './permissions/rules.js';
import { findUnenforced } from './session/session-sandbox.js';
import { freeToolNames } from './tools/builtin.js';

/** What would happen to a call, and which deny rules for paths would hold while a command runs. */
interface NewSessionExplanation extends Explanation {
  /** Rules that the sandbox enforces. */
  readonly held: readonly string[];
  /** Rules that a running command could get around. */
  readonly open: readonly string[];
}

/** Explains a call in a new session of this home and directory, without running anything. Throws BookFault. */
export async function explainInNewSession(
  explained: ExplainedCall,
  place: Parameters<typeof newSessionPolicy>[0] & {
    readonly sandbox: SandboxSettings;
    readonly environment: Readonly<Record<string, string | undefined>>;
  },
): Promise<NewSessionExplanation> {
  const { workingDirectory } = place;
  const rules = newSessionPolicy(place);
  const open = await unenforcedRulesIn(rules, place);
  const explanation = await explain(
    explained,
    { workingDirectory, freeTools: freeToolNames() },
    { ...rules, unenforcedRules: open },
  );
  if (explained.type !== 'command') return { ...explanation, held: [], open: [] };
  const held = rules.deny.filter((rule) => deniesPaths(rule) && !open.includes(rule));
  return { ...explanation, open: open.map(describeRule), held: held.map(describeRule) };
}

async function unenforcedRulesIn(
  { mode, deny }: PolicyRules,
  place: {
    readonly sandbox: SandboxSettings;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly workingDirectory: string;
  },
) {
  const { type } = placementOf(place.sandbox, mode, await new MachineSandbox(place.environment).probe());
  const { workingDirectory } = place;
  return findUnenforced(deny, {
    workingDirectory,
    roots: [workingDirectory],
    isConfined: type === 'confined',
  });
}
