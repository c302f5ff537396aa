import { judge, type PolicyRules, type Verdict } from './policy.js';
import type { ShellReading } from './shell/reading.js';
import { readShellCommand, shellRequest } from './shell-command.js';

/** What would become of a command, and what was read in it. */
export interface Explanation extends Verdict {
  readonly reading: ShellReading;
}

/** Says what would happen to a command under these rules, and why, without running anything. */
export function explainCommand(command: string, rules: PolicyRules): Explanation {
  const reading = readShellCommand(command);
  const verdict = judge({ request: shellRequest({ command, intention: '' }, reading) }, rules);
  const [problem] = reading.problems;
  const because =
    verdict.type === 'ask' && problem !== undefined
      ? `${verdict.because} It cannot be approved in advance: ${reading.problems.join('; ')}.`
      : verdict.because;
  return { ...verdict, because, reading };
}
