import { planPathIn } from '../workspace/plan.js';
import type { ToolContext } from './tool.js';

/** Whether this is the file of the session's plan. */
export function isPlan(
  { path }: { readonly path: string },
  { sessionDirectory }: Pick<ToolContext, 'sessionDirectory'>,
): boolean {
  return path === planPathIn(sessionDirectory);
}
