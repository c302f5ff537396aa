import type { Methods } from '@groundcrew/protocol';
import { providerSettings, type Session, type ToolDeclaration } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionCallContext, SessionHandlers } from '../handler.js';
import { withoutNullsDeep } from '../nulls.js';
import { giveTokens, registryFrom } from '../provider-settings.js';
import type { RareMethod } from '../rare-methods.js';
import { reloadPlugins } from '../reload-plugins.js';
import { renameByUser } from '../rename.js';
import { badToolName } from '../settings.js';
import { describeWorkspace } from '../workspace.js';

/** Methods of a session that few clients call; this file is loaded by the first call of one of them. */
export const rareSessionHandlers: SessionHandlers<Pick<Methods, RareMethod>> = {
  async 'session.tools.listPendingRequests'(_params, { session }) {
    const { agents } = await session.state();
    const items = Object.entries(agents).flatMap(([agentId, { questions }]) =>
      questions.flatMap((question) => {
        if (question.kind !== 'external_tool') return [];
        const { requestId, toolCallId, toolName, arguments: args } = question.event;
        const given = args === undefined ? {} : { arguments: args };
        return [{ requestId, toolCallId, toolName, ...given, ...(agentId !== '' && { agentId }) }];
      }),
    );
    return { items };
  },
  async 'session.tools.execute'({ name, arguments: given, toolCallId }, { session, signal }) {
    if (toolCallId !== undefined && !/^[\w.:-]{1,200}$/.test(toolCallId))
      throw new Refusal("'toolCallId' has 1 to 200 letters, digits, _ - . and : only");
    const { appCalls } = await session.load();
    const { type, text, output, error, telemetry } = await appCalls.run(
      { name, arguments: given, toolCallId },
      signal,
    );
    const { binaryResultsForLlm, contents, structuredContent, mcpMeta, detailedContent } = output ?? {};
    return {
      resultType: type,
      textResultForLlm: text,
      ...(error !== undefined && { error }),
      ...(detailedContent !== undefined && { sessionLog: detailedContent }),
      ...(binaryResultsForLlm && { binaryResultsForLlm }),
      ...(contents && { contents }),
      ...(structuredContent !== undefined && { structuredContent }),
      ...(mcpMeta !== undefined && { mcpMeta }),
      toolTelemetry: telemetry,
    };
  },
  async 'session.tools.set'({ tools: given }, context) {
    const { session, client } = context;
    const attachment = session.audience.get(client.id);
    if (!attachment) throw new Refusal('Only a client that has created or resumed the session brings tools.');
    const tools = given.map((tool) => withoutNullsDeep(tool) as unknown as ToolDeclaration);
    const badName = badToolName(tools);
    if (badName !== undefined)
      throw new Refusal(`The tool name ${JSON.stringify(badName)} may hold letters, digits, _ and - only.`);
    const warnings = context.optionWarnings();
    session.attach({ ...attachment, tools });
    await session.tools.warn(warnings);
    return {};
  },
  async 'session.tools.getSubagentSettings'(_params, { session }) {
    const { fixed } = await session.state();
    return { subagents: fixed.subagents ?? null };
  },
  async 'session.mcp.listConfigured'(_params, { session }) {
    const { mcp } = session.tools;
    const servers = mcp.describe().map(({ name, source, status, error }) => ({
      name,
      enabled: !mcp.isDisabled(name),
      source,
      live: { status, toolsLoaded: status === 'connected', ...(error !== undefined && { error }) },
    }));
    return { servers };
  },
  async 'session.mcp.moveLoadingToBackground'(_params, { session }) {
    return { movedToBackground: session.tools.mcp.moveToBackground() };
  },
  async 'session.mcp.prompts.list'({ serverName, cursor }, { session }) {
    if (cursor !== undefined) throw new Refusal('All prompts are on the first page: there is no cursor.');
    const server = connectedServer(session, serverName);
    const prompts = await server.ask((connection, limit) => connection.prompts(limit));
    return { prompts: prompts.map((each) => ({ ...each })) };
  },
  async 'session.mcp.prompts.get'({ serverName, promptName, arguments: args = {} }, { session }) {
    const server = connectedServer(session, serverName);
    const found = await server.ask((connection, limit) => connection.prompt(promptName, args, limit));
    const { messages, description } = found;
    return {
      messages: messages.map(({ role, content }) => ({ role, content })),
      ...(description !== undefined && { description }),
    };
  },
  async 'session.workspaces.ensure'(_params, { session }) {
    if (!session.hasWorkspaceIn(await session.state())) return { workspace: null };
    await session.workspace.make();
    return { workspace: await describeWorkspace(session), path: session.workspace.shownDirectory };
  },
  async 'session.workspaces.updateMetadata'({ name }, { session }) {
    if (name !== undefined) await renameByUser(session, name);
    if (!session.hasWorkspaceIn(await session.state())) return { workspace: null };
    return { workspace: await describeWorkspace(session), path: session.workspace.shownDirectory };
  },
  async 'session.workspaces.addSummary'({ title, content }, { session }) {
    if (!session.hasWorkspaceIn(await session.state()))
      throw new Refusal('This session keeps no directory of its own');
    if (content.length > longestSummary)
      throw new Refusal(`'content' has ${content.length} characters, at most ${longestSummary} are taken`);
    const line = title.replace(/\s+/g, ' ').trim().slice(0, longestTitle);
    if (line === '') throw new Refusal("'title' is empty");
    const { checkpoints } = session.workspace;
    const number = Math.max(0, ...(await checkpoints.list()).map((each) => each.number)) + 1;
    const checkpointPath = await checkpoints.write({ number, title: line, text: content });
    const summary = (await checkpoints.list()).find((each) => each.number === number);
    if (!summary) throw new Refusal('The title cannot stand in the list of summaries.');
    const alias = { checkpointNumber: number, checkpointTitle: line, checkpointPath };
    return { summary: { ...summary, ...alias }, workspace: await describeWorkspace(session) };
  },
  async 'session.workspaces.truncateSummaries'({ keepCount }, { session }) {
    if (!session.hasWorkspaceIn(await session.state())) return { workspace: null };
    await session.workspace.checkpoints.keepFirst(Math.max(0, keepCount));
    return { workspace: await describeWorkspace(session), path: session.workspace.shownDirectory };
  },
  async 'session.autopilotObjective.getState'(_params, { session }) {
    const { objective: state, continuations } = await session.state();
    const objective = await session.objective.read();
    if (!state || objective === undefined) return { state: null };
    const { id, status } = state;
    return {
      state: {
        id,
        objective,
        status: known(status),
        turnCount: continuations,
        creditCountNanoAiu: '0',
      },
    };
  },
  async 'session.contentExclusion.checkPaths'() {
    return { available: false, checks: [] };
  },
  async 'session.customizations.reload'(_params, context) {
    return reloadAll(context);
  },
  async 'session.provider.sync'(params, context) {
    const { session } = context;
    const registry = registryFrom(params);
    const names = registry.providers.filter((each) => each.hasBearerTokenProvider).map(({ name }) => name);
    const isDeselected = await deselected(session, async () => {
      await context.runtime.change(session, (before) => {
        const { providers: _, models: __, ...others } = before;
        return providerSettings.withRegistry({ ...others, providers: [], models: [] }, registry);
      });
      return registry.models.map(providerSettings.selectionId);
    });
    giveTokens(session, context.client.id, names);
    await session.tools.warn(context.optionWarnings());
    const selectionIds = registry.models.map(providerSettings.selectionId);
    const models = await context.environment.listModels({ session });
    return {
      models: models.filter(({ id }) => selectionIds.includes(id)),
      selectionIds,
      ...(isDeselected && { modelDeselected: true }),
    };
  },
  async 'session.provider.withdraw'({ models }, { session, runtime }) {
    let change = providerSettings.withoutModels(session.currentSettings, models);
    const isDeselected = await deselected(session, async () => {
      await runtime.change(session, (before) => {
        change = providerSettings.withoutModels(before, models);
        return change.settings;
      });
      return (change.settings.models ?? []).map(providerSettings.selectionId);
    });
    return {
      withdrawn: [...change.withdrawn],
      providersRemoved: [...change.removed],
      ...(isDeselected && { modelDeselected: true }),
    };
  },
};

const longestSummary = 1024 * 1024;
const longestTitle = 200;

const statuses = ['active', 'completed', 'paused'] as const;

function known(status: string): (typeof statuses)[number] {
  return statuses.find((each) => each === status) ?? 'paused';
}

function connectedServer(session: Session, serverName: string) {
  const server = session.tools.mcp.find(serverName);
  if (!server?.isRunning) throw new Refusal(`MCP server '${serverName}' is not connected`);
  return server;
}

/** Whether the model that was chosen is one of named services that are gone after the change. */
async function deselected(session: Session, change: () => Promise<readonly string[]>): Promise<boolean> {
  const before = (session.currentSettings.models ?? []).map(providerSettings.selectionId);
  const { model } = await session.state();
  const after = await change();
  return model !== undefined && before.includes(model) && !after.includes(model);
}

type Outcome = {
  subsystem: 'instructions' | 'plugins' | 'skills' | 'agents' | 'mcp' | 'extensions' | 'hooks';
  status: 'reloaded' | 'skipped' | 'failed';
  detail?: string;
};

/** One after the other: agents and skills come from plugins, too. */
async function reloadAll(context: SessionCallContext) {
  const { session, extensions, environment } = context;
  const { skills, agents, tools, sessionId } = session;
  const outcomes: Outcome[] = [];
  const errors: string[] = [];
  const run = async (subsystem: Outcome['subsystem'], work: (() => Promise<unknown>) | undefined) => {
    if (!work) return outcomes.push({ subsystem, status: 'skipped' });
    try {
      await work();
      return outcomes.push({ subsystem, status: 'reloaded' });
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      errors.push(`${subsystem}: ${detail}`);
      return outcomes.push({ subsystem, status: 'failed', detail });
    }
  };
  await session.load();
  await run('instructions', () => tools.instructions());
  await run('plugins', environment.plugins && (() => reloadPlugins(context)));
  await run('skills', () => skills.refresh({ isForced: true }));
  await run('agents', () => agents.refresh({ isForced: true }));
  await run('mcp', tools.mcp.list().length > 0 ? () => tools.mcp.reload() : undefined);
  await run('extensions', extensions.has(sessionId) ? () => extensions.reload(session) : undefined);
  // Hooks files are read when they are needed.
  await run('hooks', undefined);
  const { warnings, errors: ofSkills } = skills.diagnostics;
  return { outcomes, warnings: [...warnings], errors: [...errors, ...ofSkills] };
}
