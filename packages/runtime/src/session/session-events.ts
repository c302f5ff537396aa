import type { EventData } from '@groundcrew/protocol';
import type { StoreError } from '@groundcrew/store';
import { creditsOf, modelMetrics } from '../budget/metrics.js';
import { costOfAll } from '../budget/spending.js';
import type { RecordedGuard } from '../log/recorded-guard.js';
import type { Draft, EphemeralDraft } from '../log/session-log.js';
import { agentOf, type SessionState } from '../log/state.js';
import { fixedProviders, serverNames, storedAgent } from '../settings/provider-settings.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { measureContext } from '../turn/context-use.js';
import type { Planner } from '../turn/planner.js';
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

/** What clients were sent is not stored any more: they have to read the session again. */
export function lossWarning({ had, has }: { readonly had: number; readonly has: number }): EphemeralDraft {
  const message = `A failover of the store has lost the last ${had - has} records of this session, some of which clients were sent. It goes on from what is stored: read its events again.`;
  return { type: 'session.warning', ephemeral: true, data: { warningType: 'store_lost', message } };
}

/** What a session begins with: what stays as it is now, and a word to all. */
export function greeting(
  settings: SessionSettings,
  facts: {
    readonly sessionId: string;
    readonly startTime: string;
    readonly version: string;
    /** Absent when no client has hooks. */
    readonly guard: RecordedGuard | undefined;
  },
): readonly Draft[] {
  const { model, reasoningEffort, limits, clientName, hasWorkspace = true, sandbox } = settings;
  const { skillDirectories, disabledSkills, fileHooks, tracksFiles } = settings;
  const { sessionId, startTime, version } = facts;
  return [
    {
      note: 'settings.fixed',
      data: {
        clientName,
        ...fixedProviders(settings),
        ...(settings.mcpServers && { mcpServerNames: serverNames(settings) }),
        ...(!hasWorkspace && { hasWorkspace }),
        ...facts.guard,
        ...(settings.hosting && { hosting: settings.hosting }),
        ...(sandbox && { sandbox }),
        ...(settings.style && { style: settings.style }),
        ...(fileHooks && { fileHooks }),
        ...(tracksFiles && { tracksFiles }),
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
        ...settings.style,
        ...(limits && { sessionLimits: limits }),
      },
    },
  ];
}

/** What `session.shutdown` says of the session that closes. */
export function farewell(
  state: SessionState,
  planner: Pick<Planner, 'model' | 'plan'>,
  { errorReason }: { readonly errorReason?: string },
): EventData<'session.shutdown'> {
  const { spending, codeChanges } = state;
  return {
    shutdownType: errorReason === undefined ? 'routine' : 'error',
    ...(errorReason !== undefined && { errorReason }),
    totalPremiumRequests: 0,
    totalApiDurationMs: Math.round(spending.milliseconds),
    sessionStartTime: Date.parse(state.createdAt),
    codeChanges: {
      linesAdded: codeChanges.linesAdded,
      linesRemoved: codeChanges.linesRemoved,
      filesModified: [...codeChanges.files],
    },
    modelMetrics: modelMetrics(spending),
    ...creditsOf(costOfAll(spending)),
    currentModel: planner.model(state),
    ...(state.userTurns > 0 && contextAtEnd(state, planner)),
  };
}

/** How full the window was. */
function contextAtEnd(state: SessionState, planner: Pick<Planner, 'plan'>) {
  const use = measureContext(agentOf(state), planner.plan(state));
  const { currentTokens, systemTokens, conversationTokens, toolDefinitionsTokens } = use;
  return { currentTokens, systemTokens, conversationTokens, toolDefinitionsTokens };
}
