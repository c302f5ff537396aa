import { type GuardPoint, guardPoints, type RecordedGuard } from '../log/recorded-guard.js';
import type { HookOptions } from './hooks.js';

/** What the hooks of these clients decide about; undefined when none of them has hooks. */
export function guardedPoints(clients: readonly HookOptions[]): readonly GuardPoint[] | undefined {
  if (clients.length === 0) return undefined;
  return guardPoints.filter((point) =>
    clients.some(({ types }) => types === undefined || types.includes(point)),
  );
}

/** The record after clients with these hooks have come, or hooks were waived; undefined when it stays as it is. */
export function changedGuard(
  before: RecordedGuard,
  attached: readonly GuardPoint[] | undefined,
  { waivesHooks = false }: { readonly waivesHooks?: boolean } = {},
): Required<RecordedGuard> | undefined {
  const known = waivesHooks ? undefined : pointsOf(before);
  const points = guardPoints.filter((point) => known?.includes(point) || attached?.includes(point));
  const hasHooks = known !== undefined || attached !== undefined;
  const isSame = hasHooks === (before.hasHooks ?? false) && points.length === (pointsOf(before)?.length ?? 0);
  return isSame ? undefined : { hasHooks, guardedPoints: points };
}

/** Hooks that once decided about one of these points are not there now; nor is any client with hooks, where none did. */
export function isUncovered(
  recorded: RecordedGuard,
  attached: readonly GuardPoint[] | undefined,
  points: readonly GuardPoint[],
): boolean {
  const known = pointsOf(recorded);
  // mutation: forget a guard that left
  if (known === undefined) return false;
  return attached === undefined || points.some((point) => known.includes(point) && !attached.includes(point));
}

function pointsOf({ hasHooks, guardedPoints: points }: RecordedGuard): readonly GuardPoint[] | undefined {
  return hasHooks ? (points ?? guardPoints) : undefined;
}
