import type { EventData } from '@groundcrew/protocol';
import type { StoreError } from '@groundcrew/store';
import { creditsOf, modelMetrics } from '../budget/metrics.js';
import { costOfAll } from '../budget/spending.js';
import type { Draft, EphemeralDraft } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import { fixedProviders, storedAgent } from '../settings/provider-settings.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { describeDirectory } from '../workspace/git.js';

/** What clients receive about a session of which only the beginning can be read. */
export function damageWarning({ message }: StoreError): EphemeralDraft {
  const text = `Only the beginning of this session can be read, and nothing can be added to it. ${message}`;
  return {
    type: 'session.warning',
    ephemeral: true,
    data: { warningType: 'store_damaged', message: text },
  };
}

/** What a session begins with: what stays as it is now, and a word to all. */
export function greeting(
  settings: SessionSettings,
  facts: {
    readonly sessionId: string;
    readonly startTime: string;
    readonly version: string;
    readonly hasHooks: boolean;
  },
): readonly Draft[] {
  const { model, reasoningEffort, limits, clientName, hasWorkspace = true, sandbox } = settings;
  const { skillDirectories, disabledSkills, fileHooks } = settings;
  const { sessionId, startTime, version } = facts;
  const hooks = facts.hasHooks && { hasHooks: true };
  return [
    {
      note: 'settings.fixed',
      data: {
        clientName,
        ...fixedProviders(settings),
        ...(!hasWorkspace && { hasWorkspace }),
        ...hooks,
        ...(sandbox && { sandbox }),
        ...(fileHooks && { fileHooks }),
        ...(skillDirectories && { skillDirectories }),
        ...(disabledSkills && { disabledSkills }),
        ...(settings.subagents && { subagents: settings.subagents }),
        ...(settings.customAgents && { customAgents: settings.customAgents.map(storedAgent) }),
      },
    },
    {
      type: 'session.start',
      data: {
        sessionId,
        version: 1,
        producer: 'groundcrew',
        copilotVersion: version,
        startTime,
        context: describeDirectory(settings.workingDirectory),
        alreadyInUse: false,
        remoteSteerable: false,
        ...(model !== undefined && { selectedModel: model }),
        ...(reasoningEffort !== undefined && { reasoningEffort }),
        ...(limits && { sessionLimits: limits }),
      },
    },
  ];
}

/** What `session.shutdown` says of the session that closes. */
export function farewell(state: SessionState, model: string): EventData<'session.shutdown'> {
  const { spending } = state;
  return {
    shutdownType: 'routine',
    totalPremiumRequests: 0,
    totalApiDurationMs: Math.round(spending.milliseconds),
    sessionStartTime: Date.parse(state.createdAt),
    codeChanges: { linesAdded: 0, linesRemoved: 0, filesModified: [] },
    modelMetrics: modelMetrics(spending),
    ...creditsOf(costOfAll(spending)),
    currentModel: model,
  };
}
