import { planPathIn } from '../workspace/plan.js';
import type { ToolContext } from './tool.js';

/** Whether this is the file of the session's plan. */
export function isPlan(
  { path }: { readonly path: string },
  { sessionDirectory, sync }: Pick<ToolContext, 'sessionDirectory' | 'sync'>,
): boolean {
  const plan = planPathIn(sessionDirectory);
  return path === plan || path === sync?.shown(plan);
}
