import { accountMethods } from './account.js';
import { agentsMethods } from './agents.js';
import { commandsMethods } from './commands.js';
import { hooksMethods } from './hooks.js';
import { hostMethods } from './host.js';
import { instructionsMethods } from './instructions.js';
import { llmInferenceMethods } from './llm-inference.js';
import { mcpMethods } from './mcp.js';
import { modelsMethods } from './models.js';
import { hostPluginsMethods, pluginsMethods, sessionPluginsMethods } from './plugins.js';
import { remoteControlMethods, sessionRemoteMethods } from './remote-control.js';
import { serverMethods } from './server.js';
import { sessionMethods } from './session.js';
import { sessionAgentsMethods } from './session-agents.js';
import { sessionCanvasMethods } from './session-canvas.js';
import { sessionCommandsMethods } from './session-commands.js';
import { sessionCustomizationsMethods } from './session-customizations.js';
import { sessionDebugMethods } from './session-debug.js';
import { sessionEventLogMethods } from './session-event-log.js';
import { extensionsMethods, sessionExtensionsMethods } from './session-extensions.js';
import { sessionFactoryMethods } from './session-factory.js';
import { sessionFsMethods } from './session-fs.js';
import { sessionGitHubAuthMethods } from './session-github-auth.js';
import { sessionHistoryMethods } from './session-history.js';
import { sessionHostMethods } from './session-host.js';
import { sessionMcpMethods } from './session-mcp.js';
import { sessionMetadataMethods } from './session-metadata.js';
import { sessionModeMethods } from './session-mode.js';
import { sessionModelMethods } from './session-model.js';
import { sessionNameMethods } from './session-name.js';
import { sessionOptionsMethods } from './session-options.js';
import { sessionPermissionsMethods } from './session-permissions.js';
import { sessionPlanMethods } from './session-plan.js';
import { sessionProviderMethods } from './session-provider.js';
import { sessionProvidersMethods } from './session-providers.js';
import { sessionQuestionsMethods } from './session-questions.js';
import { sessionQueueMethods } from './session-queue.js';
import { sandboxMethods, sessionSandboxMethods } from './session-sandbox.js';
import { sessionScheduleMethods } from './session-schedule.js';
import { sessionShellMethods } from './session-shell.js';
import { sessionSkillsMethods } from './session-skills.js';
import { sessionTasksMethods } from './session-tasks.js';
import { sessionTelemetryMethods } from './session-telemetry.js';
import { sessionToolsMethods } from './session-tools.js';
import { sessionUiMethods } from './session-ui.js';
import { sessionUsageMethods } from './session-usage.js';
import { sessionWorkflowMethods } from './session-workflow.js';
import { sessionWorkspacesMethods } from './session-workspaces.js';
import { sessionsMethods } from './sessions.js';
import { skillsMethods } from './skills.js';
import { storedSessionsMethods } from './stored-sessions.js';
import { toolsMethods } from './tools.js';

/** Every method a client may call. A handler for each, the SDK's types and the documentation follow from it. */
export const methods = {
  ...accountMethods,
  ...agentsMethods,
  ...commandsMethods,
  ...extensionsMethods,
  ...hostMethods,
  ...hooksMethods,
  ...instructionsMethods,
  ...llmInferenceMethods,
  ...mcpMethods,
  ...modelsMethods,
  ...hostPluginsMethods,
  ...pluginsMethods,
  ...remoteControlMethods,
  ...serverMethods,
  ...sessionAgentsMethods,
  ...sessionCanvasMethods,
  ...sessionCommandsMethods,
  ...sessionCustomizationsMethods,
  ...sessionDebugMethods,
  ...sessionEventLogMethods,
  ...sessionExtensionsMethods,
  ...sessionFactoryMethods,
  ...sessionFsMethods,
  ...sessionGitHubAuthMethods,
  ...sessionHostMethods,
  ...sessionMcpMethods,
  ...sessionHistoryMethods,
  ...sessionMetadataMethods,
  ...sessionMethods,
  ...sessionModeMethods,
  ...sessionModelMethods,
  ...sessionNameMethods,
  ...sessionOptionsMethods,
  ...sessionPermissionsMethods,
  ...sessionPlanMethods,
  ...sessionPluginsMethods,
  ...sessionProviderMethods,
  ...sessionProvidersMethods,
  ...sessionQuestionsMethods,
  ...sessionQueueMethods,
  ...sessionRemoteMethods,
  ...sandboxMethods,
  ...sessionSandboxMethods,
  ...sessionScheduleMethods,
  ...sessionShellMethods,
  ...sessionSkillsMethods,
  ...sessionTasksMethods,
  ...sessionTelemetryMethods,
  ...sessionToolsMethods,
  ...sessionUiMethods,
  ...sessionUsageMethods,
  ...sessionWorkflowMethods,
  ...sessionWorkspacesMethods,
  ...sessionsMethods,
  ...skillsMethods,
  ...storedSessionsMethods,
  ...toolsMethods,
};

/** The table as a type. */
export type Methods = typeof methods;

/** The name of a method. */
export type MethodName = keyof Methods;
