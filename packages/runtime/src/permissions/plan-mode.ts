import type { Refusal } from './decision.js';
import { onlyReads } from './policy.js';
import type { Subject } from './subject.js';

/**
 * Whether a call may go on in plan mode, by what it asks permission for: reading, looking at an address, a command that
 * certainly only reads, a server's tool that says so, and writing the plan itself. Pure. `planFiles`: the names of the plan,
 * as it is written and with every link followed.
 */
export function isHarmlessForPlan(subject: Subject, planFiles: readonly string[]): boolean {
  const { request, prompt, paths } = subject;
  if (request === undefined) return false;
  const isPlan = paths.length > 0 && paths.every(({ names }) => areAllIn(names, planFiles));
  if (prompt?.kind === 'path' && prompt.accessKind === 'write') return isPlan;
  switch (request.kind) {
    case 'read':
    case 'url':
      return true;
    case 'write':
      return isPlan;
    case 'shell':
      return onlyReads(subject);
    case 'mcp':
      return request.readOnly;
    default:
      return false;
  }
}

/** What the model and clients read of a call that plan mode holds back. */
export function planModeRefusal(toolName: string): Refusal {
  return {
    type: 'denied',
    text: `The call of ${toolName} was not run: the session is in plan mode, in which nothing but the plan may be changed. Look, think and write the plan; it is carried out when the user has approved it.`,
    message: 'Plan mode allows no changes but to the plan.',
  };
}

function areAllIn(names: readonly string[], files: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => files.includes(name));
}
