import { type Methods, methods } from '@groundcrew/protocol';
import type { Handlers } from '../handler.js';
import { lazySessionHandlers } from '../lazy-handlers.js';
import { queueArrangement, type RareMethod, rareMethods } from '../rare-methods.js';
import { accountHandlers } from './account.js';
import { agentsHandlers } from './agents.js';
import { hooksHandlers } from './hooks.js';
import { hostHandlers } from './host.js';
import { instructionsHandlers, sessionInstructionsHandlers } from './instructions.js';
import { llmInferenceHandlers } from './llm-inference.js';
import { mcpHandlers } from './mcp.js';
import {
  hostPluginsHandlers,
  pluginsHandlers,
  sessionPluginsHandlers,
  sessionPluginsHomeHandlers,
} from './plugins.js';
import { remoteControlHandlers, sessionRemoteHandlers } from './remote-control.js';
import { serverHandlers } from './server.js';
import { sessionHandlers } from './session.js';
import { sessionAgentsHandlers } from './session-agents.js';
import { sessionCanvasHandlers } from './session-canvas.js';
import { sessionCommandsHandlers } from './session-commands.js';
import { sessionEventLogHandlers } from './session-event-log.js';
import { extensionsHandlers, sessionExtensionsHandlers } from './session-extensions.js';
import { sessionFsHandlers } from './session-fs.js';
import { sessionGitHubAuthHandlers } from './session-github-auth.js';
import { sessionHistoryHandlers } from './session-history.js';
import { sessionHostHandlers } from './session-host.js';
import { sessionMetadataHandlers } from './session-metadata.js';
import { sessionModeHandlers } from './session-mode.js';
import { sessionModelHandlers } from './session-model.js';
import { sessionNameHandlers } from './session-name.js';
import { sessionOptionsHandlers } from './session-options.js';
import { sessionPermissionsHandlers } from './session-permissions.js';
import { sessionPlanHandlers } from './session-plan.js';
import { sessionProviderHandlers } from './session-provider.js';
import { sessionQuestionsHandlers } from './session-questions.js';
import { sessionQueueHandlers } from './session-queue.js';
import { sandboxHandlers, sessionSandboxHandlers } from './session-sandbox.js';
import { sessionShellHandlers } from './session-shell.js';
import { sessionSkillsHandlers } from './session-skills.js';
import { sessionTelemetryHandlers } from './session-telemetry.js';
import { sessionToolsHandlers } from './session-tools.js';
import { sessionUiHandlers } from './session-ui.js';
import { sessionUsageHandlers } from './session-usage.js';
import { sessionsHandlers } from './sessions.js';
import { skillsHandlers } from './skills.js';
import { storedSessionsHandlers } from './stored-sessions.js';
import { toolsHandlers } from './tools.js';

const sendHandlers = lazySessionHandlers(
  [
    'session.cancelAllBackgroundAgents',
    'session.interruptMainTurn',
    'session.sendAndWait',
    'session.sendMessages',
  ],
  async () => (await import('./session-send.js')).sessionSendHandlers,
);

const queueArrangementHandlers = lazySessionHandlers(
  queueArrangement,
  async () => (await import('./queue-arrangement.js')).queueArrangementHandlers,
);

const rareHandlers = lazySessionHandlers(
  rareMethods,
  async () => (await import('./rare-session-methods.js')).rareSessionHandlers,
);

const sessionWorkflowHandlers = lazySessionHandlers(
  below('session.workflow.'),
  async () => (await import('./session-workflow.js')).sessionWorkflowHandlers,
);

const sessionFactoryHandlers = lazySessionHandlers(
  below('session.factory.'),
  async () => (await import('./session-factory.js')).sessionFactoryHandlers,
);

const sessionTasksHandlers = lazySessionHandlers(
  [...below('session.tasks.'), 'session.fleet.start'],
  async () => (await import('./session-tasks.js')).sessionTasksHandlers,
);

const sessionScheduleHandlers = lazySessionHandlers(
  below('session.schedule.'),
  async () => (await import('./session-schedule.js')).sessionScheduleHandlers,
);

const sessionWorkspacesHandlers = lazySessionHandlers(
  below('session.workspaces.').filter(isCommon),
  async () => (await import('./session-workspaces.js')).sessionWorkspacesHandlers,
);

const sessionMcpHandlers = lazySessionHandlers(
  below('session.mcp.').filter(isCommon),
  async () => (await import('./session-mcp.js')).sessionMcpHandlers,
);

const sessionDebugHandlers = lazySessionHandlers(
  below('session.debug.'),
  async () => (await import('./session-debug.js')).sessionDebugHandlers,
);

const sessionProvidersHandlers = lazySessionHandlers(
  below('session.providers.'),
  async () => (await import('./session-providers.js')).sessionProvidersHandlers,
);

/** Methods that name a live session: their handlers are given it. */
export const sessionMethodHandlers = {
  ...sessionHandlers,
  ...sessionAgentsHandlers,
  ...sessionCanvasHandlers,
  ...sessionCommandsHandlers,
  ...sessionDebugHandlers,
  ...sessionEventLogHandlers,
  ...sessionExtensionsHandlers,
  ...sessionFactoryHandlers,
  ...sessionGitHubAuthHandlers,
  ...sessionInstructionsHandlers,
  ...sessionHostHandlers,
  ...sessionMcpHandlers,
  ...sessionHistoryHandlers,
  ...sessionMetadataHandlers,
  ...sessionModeHandlers,
  ...sessionModelHandlers,
  ...sessionNameHandlers,
  ...sessionOptionsHandlers,
  ...sessionPermissionsHandlers,
  ...sessionPlanHandlers,
  ...sessionPluginsHandlers,
  ...sessionProviderHandlers,
  ...sessionProvidersHandlers,
  ...sessionQuestionsHandlers,
  ...sessionQueueHandlers,
  ...queueArrangementHandlers,
  ...rareHandlers,
  ...sessionPluginsHomeHandlers,
  ...sendHandlers,
  ...sessionRemoteHandlers,
  ...sessionSandboxHandlers,
  ...sessionScheduleHandlers,
  ...sessionShellHandlers,
  ...sessionSkillsHandlers,
  ...sessionTasksHandlers,
  ...sessionTelemetryHandlers,
  ...sessionToolsHandlers,
  ...sessionUiHandlers,
  ...sessionUsageHandlers,
  ...sessionWorkflowHandlers,
  ...sessionWorkspacesHandlers,
};

/** One handler for every other method. */
export const handlers: Handlers<Omit<Methods, keyof typeof sessionMethodHandlers>> = {
  ...accountHandlers,
  ...agentsHandlers,
  ...extensionsHandlers,
  ...hostHandlers,
  ...hooksHandlers,
  ...instructionsHandlers,
  ...llmInferenceHandlers,
  ...mcpHandlers,
  ...hostPluginsHandlers,
  ...pluginsHandlers,
  ...remoteControlHandlers,
  ...serverHandlers,
  ...sandboxHandlers,
  ...sessionFsHandlers,
  ...sessionsHandlers,
  ...skillsHandlers,
  ...storedSessionsHandlers,
  ...toolsHandlers,
};

function below<P extends string>(prefix: P): readonly Extract<keyof Methods, `${P}${string}`>[] {
  const names = Object.keys(methods).filter((name) => name.startsWith(prefix));
  return names as Extract<keyof Methods, `${P}${string}`>[];
}

function isCommon<N extends string>(name: N): name is Exclude<N, RareMethod> {
  return !rareMethods.some((rare) => rare === name);
}
