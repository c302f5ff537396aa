import { bwrapExecutor } from './bwrap.js';
import type { Executor } from './executor.js';
import { planMounts } from './mount-plan.js';
import type { Confinement } from './sandbox-confinement.js';
import type { WorkingSandbox } from './sandbox-probe.js';
import type { PrivateTemp } from './sandbox-temp.js';
import { surveyView } from './sandbox-view.js';
import { seatbeltExecutor, seatbeltProfile } from './seatbelt.js';

/** A child that is to be confined. */
export interface ConfinedLaunch {
  readonly confinement: Confinement;
  readonly workingDirectory: string;
  readonly temp: PrivateTemp;
}

/** Looks at the machine as it is now, and makes an executor for one child. Throws CannotConfine. */
export function sandboxExecutor(
  { confinement, workingDirectory, temp }: ConfinedLaunch,
  sandbox: WorkingSandbox,
  environment: Readonly<Record<string, string | undefined>>,
): Executor {
  const privateTemp: PrivateTemp['take'] = (path, tops) => temp.take(path, tops);
  const view = surveyView({ confinement, workingDirectory, environment, privateTemp });
  const { hasNetwork, hasKeychain } = confinement;
  if (sandbox.kind === 'bwrap') return bwrapExecutor({ ...sandbox, mounts: planMounts(view), hasNetwork });
  const temporaryDirectory = temp.take('', []);
  const profile = seatbeltProfile({ view, temporaryDirectory, hasNetwork, hasKeychain });
  return seatbeltExecutor({ program: sandbox.program, profile, temporaryDirectory });
}
