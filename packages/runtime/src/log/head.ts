import type { SessionHead } from '@groundcrew/store';
import { costOfAll, totalsOf } from '../budget/spending.js';
import { hasWork } from './fold.js';
import type { SessionState } from './state.js';

/** What the store keeps beside the log, so that lists need not read it. */
export function headOf(state: SessionState): SessionHead {
  const summary = state.fixed.summary ?? state.summary;
  return {
    createdAt: state.createdAt,
    modifiedAt: state.modifiedAt,
    hasWork: hasWork(state),
    userTurns: state.userTurns,
    eventCount: state.eventCount,
    snapshotSeq: state.snapshotSeq,
    context: state.context,
    ...(state.fixed.name !== undefined && { name: state.fixed.name }),
    ...(state.fixed.isNamedByUser && { isNamed: true }),
    ...(summary !== undefined && { summary }),
    ...(state.removed.length > 0 && { removed: state.removed }),
    ...(state.fixed.clientName !== undefined && { clientName: state.fixed.clientName }),
    ...(state.model !== undefined && { model: state.model }),
    ...spentOn(state),
    ...needsOf(state),
    ...dueIn(state),
  };
}

/** When the next scheduled prompt comes; a time that is not known yet is none. */
function dueIn({ schedules }: SessionState): Pick<SessionHead, 'dueAt'> {
  const times = schedules.flatMap(({ nextRunAt }) => (nextRunAt > 0 ? [nextRunAt] : []));
  return times.length > 0 ? { dueAt: Math.min(...times) } : {};
}

function spentOn({ spending }: SessionState): Pick<SessionHead, 'tokens' | 'cost'> {
  const { calls, tokens } = totalsOf(spending);
  return calls === 0 ? {} : { tokens, cost: costOfAll(spending) };
}

/** What a node must have to go on with the session. */
function needsOf({ fixed }: SessionState): Pick<SessionHead, 'needs'> {
  const { providerRef, nodeLabels = [], hasProvider, hasGitHubToken, providerNames = [] } = fixed;
  const hasSecrets = hasProvider || hasGitHubToken || providerNames.length > 0;
  const needs = {
    ...(providerRef !== undefined && { providerRef }),
    ...(nodeLabels.length > 0 && { labels: nodeLabels }),
    ...(hasSecrets && { secrets: true as const }),
  };
  return Object.keys(needs).length > 0 ? { needs } : {};
}
