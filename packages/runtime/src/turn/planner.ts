import type { ModelInfo, ModelProvider } from '@groundcrew/models';
import type { SessionMode } from '@groundcrew/protocol';
import { type ModelView, modeOf, type SessionState } from '../log/state.js';
import { agentPrompt, leadingPrompt } from '../prompt/agent-prompt.js';
import type { InstructionPlaces } from '../prompt/instruction-files.js';
import type { Instructions } from '../prompt/instructions.js';
import { type KnownFacts, type PromptParts, PromptWriter } from '../prompt/prompt-writer.js';
import { unknownSections } from '../prompt/system-prompt.js';
import type { Waits } from '../questions/waits.js';
import { withCapabilities } from '../settings/provider-config.js';
import { awaitedProvider, missingSecret } from '../settings/provider-settings.js';
import type { ModelAccess, SessionSettings } from '../settings/session-settings.js';
import { Deferral } from '../tools/deferral.js';
import type { Tool } from '../tools/tool.js';
import type { ToolSource } from '../tools/tool-source.js';
import { makeToolset, ToolConflict, type Toolset } from '../tools/toolset.js';
import type { AgentPlanner, ModelPlan, SettingsReport } from './agent-context.js';
import { AgentToolsets, agentToolset } from './agent-toolsets.js';
import {
  allowedModel,
  automatic,
  disallowedModel,
  isAllowedModel,
  otherAllowedModel,
} from './allowed-models.js';
import { WantedStyles } from './answer-style.js';
import { modelProblem, modelWarning, warningAboutEffort } from './model-warnings.js';
import { OptionWarnings } from './option-warnings.js';
import type { AgentChoices, PlannedAgent } from './planned-agent.js';
import { ToolChanges } from './tool-changes.js';

/** What a session's next model call goes by: its settings, the way to its model, and what its clients bring. */
export class Planner {
  private toolset: Toolset | undefined;
  private readonly agentToolsets = new AgentToolsets();
  /** The mode that the tools were put together for. */
  mode: SessionMode = 'interactive';
  private readonly deferral = new Deferral();
  private readonly toolChanges = new ToolChanges();
  private readonly prompt: PromptWriter;
  private readonly homeDirectory: string;
  readonly optionWarnings = new OptionWarnings();
  private readonly answerStyles = new WantedStyles();

  constructor(
    private readonly sources: readonly ToolSource[],
    private readonly version: string,
    public settings: SessionSettings,
    private access: ModelAccess,
    private readonly parts: PromptParts & {
      readonly homeDirectory: string;
      /** The file of the plan, as the model knows it. */
      planPath(): string;
    } & AgentChoices,
  ) {
    this.prompt = new PromptWriter(parts);
    this.homeDirectory = parts.homeDirectory;
    for (const source of sources)
      source.onChange(() => {
        this.toolset = undefined;
      });
  }

  /** The plans of one agent, by what the log adds up to at each moment. */
  forAgent(state: () => SessionState, waits: Waits): AgentPlanner {
    return {
      isReady: () => this.sources.every((source) => source.isReady),
      ready: (signal) => this.ready(signal),
      freshPlan: (signal) => this.freshPlan(state(), waits, signal),
      plan: () => this.plan(state()),
      model: () => this.model(state()),
      view: () => this.view(this.model(state())),
      noticeOfTools: (mode = state().mode) => {
        this.useMode(mode);
        return this.noticeOfTools();
      },
      noticeOfServers: () => this.noticeOfTools(({ source }) => source === 'mcp'),
      report: () => this.report(state()),
      optionWarnings: () => {
        this.optionWarnings.add(this.optionWarnings.ofPending(this.sources));
        return this.optionWarnings.take();
      },
      promptWarnings: () => this.prompt.takeWarnings(),
    };
  }

  /** The plans of a sub-agent: its own prompt, tools and model, in the session's context. */
  forSubAgent(agent: () => PlannedAgent, state: () => SessionState): AgentPlanner {
    const model = () => this.modelOf(agent(), state());
    const plan = () => this.agentPlan(agent(), state());
    return {
      isReady: () => this.sources.every((source) => source.isReady),
      ready: (signal) => this.readyFor(agent(), signal),
      freshPlan: async (signal) => {
        await this.readyFor(agent(), signal);
        return plan();
      },
      plan,
      model,
      view: () => this.view(model()),
      noticeOfTools: () => '',
      noticeOfServers: () => '',
      report: () => ({ hiddenTools: [], warnings: [] }),
      optionWarnings: () => [],
      promptWarnings: () => [],
    };
  }

  private modelOf({ agent, model = agent.model }: PlannedAgent, state: SessionState): string {
    const isUsable = model !== undefined && this.isServed(model) && isAllowedModel(state, model);
    return isUsable ? model : this.model(state);
  }

  /** False for a model that the service is known not to have. */
  isServed(model: string): boolean {
    return this.access.serves?.(model) !== false && this.access.lists?.(model) !== false;
  }

  /** Why the session's services do not give a model that a client names. */
  problemWith(model: string): Promise<string | undefined> {
    return modelProblem(this.access, model);
  }

  /** Why the session may not call a model; undefined when it may. */
  refusalOf(model: string, state: SessionState): string | undefined {
    return disallowedModel(state, model);
  }

  private agentPlan(planned: PlannedAgent, state: SessionState): ModelPlan {
    const { agent, skills } = planned;
    const model = this.modelOf(planned, state);
    const toolset = this.agentToolsets.ofSubAgent(planned, this.toolsetContext(this.currentToolset()));
    const facts = { ...this.factsIn(state), model, toolset, instructions: this.prompt.instructions };
    const parent = model === this.model(state) ? state.reasoningEffort : undefined;
    const reasoningEffort = planned.reasoningEffort ?? agent.reasoningEffort ?? parent;
    const isFitting = this.warningAboutEffort(model, reasoningEffort) === undefined;
    return {
      provider: this.provider(state, model),
      model,
      info: this.info(model),
      answerStyle: this.answerStyles.of(this.settings, state),
      streaming: this.settings.streaming,
      citations: this.settings.citations ?? false,
      system: agentPrompt(facts, agent.prompt, skills),
      toolset,
      ...(reasoningEffort !== undefined && isFitting && { reasoningEffort }),
    };
  }

  private async readyFor({ servers }: PlannedAgent, signal: AbortSignal): Promise<void> {
    await Promise.all([this.ready(signal), servers?.ready(signal)]);
  }

  /** Resolves when every source of tools is ready, or is not waited for any longer. */
  async ready(signal: AbortSignal): Promise<void> {
    await Promise.all(this.sources.map((source) => source.ready(signal)));
  }

  /** The plan of the next call, by instructions as they stand and sections as the app transforms them now. */
  private async freshPlan(state: SessionState, waits: Waits, signal: AbortSignal): Promise<ModelPlan> {
    await Promise.all([this.ready(signal), this.parts.leader?.(state)?.servers?.ready(signal)]);
    const message = this.settings.systemMessage;
    const facts = this.factsIn(state);
    const refreshed = this.prompt.refresh(facts, { message, ...this.placesIn(state) }, signal);
    const wait = { kind: 'hooks', hookType: 'systemMessage.transform', source: 'a client' } as const;
    await waits.during(wait, refreshed);
    return this.plan(state);
  }

  /** The instructions that files hold now; none where the session skips them. */
  instructions(state: SessionState): Instructions {
    return this.prompt.readInstructions(this.placesIn(state).places);
  }

  private placesIn({ context }: SessionState): { readonly places?: InstructionPlaces } {
    const { skipsInstructions, instructionDirectories } = this.settings;
    if (skipsInstructions) return {};
    const { cwd: workingDirectory, gitRoot } = context;
    const { homeDirectory } = this;
    return {
      places: {
        workingDirectory,
        homeDirectory,
        ...(gitRoot !== undefined && { gitRoot }),
        ...(instructionDirectories && { directories: instructionDirectories }),
      },
    };
  }

  private factsIn(state: SessionState): KnownFacts {
    const { access, settings } = this;
    const { organizationInstructions } = settings;
    this.useMode(modeOf(state));
    return {
      workingDirectory: state.context.cwd,
      platform: process.platform,
      model: this.model(state),
      toolset: this.deferral.apply(this.currentToolset(), settings.toolSearch ?? {}, this.windowOf(state)),
      isCopilot: access.isCopilot,
      version: this.version,
      mode: this.mode,
      planPath: this.parts.planPath(),
      ...(state.context.gitRoot !== undefined && { gitRoot: state.context.gitRoot }),
      ...(organizationInstructions !== undefined && { organizationInstructions }),
    };
  }

  /** Warnings of names in filters of tools that no tool has. */
  filterWarnings(): readonly string[] {
    return this.optionWarnings.ofFilters(this.sources, this.settings);
  }

  configure(settings: SessionSettings, access: ModelAccess): void {
    this.settings = settings;
    this.access = access;
    this.toolset = undefined;
  }

  /** Changes some settings; the rest stay, and so does the way to the model. */
  adjust(change: Partial<SessionSettings>): void {
    this.settings = { ...this.settings, ...change };
    this.toolset = undefined;
  }

  /** Whether the model titles the session. */
  isTitledByModel(state: SessionState): boolean {
    const { access, settings } = this;
    const model = this.model(state);
    const byService = access.serves?.(model) === false ? false : access.titles?.(model);
    if (byService === false || settings.titles === 'prompt') return false;
    return settings.titles === 'model' || byService === true;
  }

  /** The model of the next call: one that the session may call. */
  model(state: SessionState): string {
    return allowedModel(state, this.wantedModel(state), (model) => this.isServed(model));
  }

  private wantedModel(state: SessionState): string {
    const { agent } = this.parts.leader?.(state) ?? {};
    if (agent?.model !== undefined && this.isServed(agent.model) && isAllowedModel(state, agent.model))
      return agent.model;
    const chosen = this.chosenModel(state) ?? this.settings.model ?? automatic;
    if (chosen !== automatic) return chosen;
    const { limitedModel } = state;
    const other =
      limitedModel === undefined ? undefined : otherAllowedModel(state, this.access, limitedModel);
    return other ?? this.access.defaultModel;
  }

  private chosenModel({ model, isModelByDefault }: SessionState): string | undefined {
    if (model === undefined || !isModelByDefault) return model;
    return this.access.serves?.(model) === false ? undefined : model;
  }

  private view(model: string): ModelView {
    const { vision = true, documents = [], images } = this.info(model) ?? {};
    return { model, canSeeImages: vision, documents, ...(images && { images }) };
  }

  /** Describes a model: fields that the app gave go before those of the service. */
  private info(model: string): ModelInfo | undefined {
    const known = this.access.info(model);
    const { modelCapabilities } = this.settings;
    if (!modelCapabilities) return known;
    return withCapabilities(known ?? { id: model, name: model, vision: true }, modelCapabilities);
  }

  /** Throws ToolConflict when a client's tool stands in the way of a built-in one. */
  plan(state: SessionState): ModelPlan {
    const { settings } = this;
    const model = this.model(state);
    const { reasoningEffort = this.parts.leader?.(state)?.agent.reasoningEffort } = state;
    const warning = this.warningAboutEffort(model, reasoningEffort);
    const leader = this.parts.leader?.(state);
    const known = this.factsIn(state);
    const facts = leader
      ? {
          ...known,
          toolset: this.agentToolsets.ofLeader(leader, this.toolsetContext(this.unhiddenToolset())),
        }
      : known;
    const system = this.prompt.write(facts, settings.systemMessage);
    const otherModel = otherAllowedModel(state, this.access, model);
    return {
      provider: this.provider(state, model),
      model,
      info: this.info(model),
      ...(otherModel !== undefined && { otherModel }),
      answerStyle: this.answerStyles.of(settings, state),
      streaming: settings.streaming,
      citations: settings.citations ?? false,
      system: leader ? `${system}\n\n${leadingPrompt(leader.agent.prompt, leader.skills)}` : system,
      toolset: facts.toolset,
      ...(reasoningEffort !== undefined && warning === undefined && { reasoningEffort }),
    };
  }

  /** Why a model is called without the reasoning effort that was set. */
  warningAboutEffort(model: string, effort: string | undefined): string | undefined {
    return warningAboutEffort(this.info(model), effort);
  }

  private noticeOfTools(isMeant?: (tool: Pick<Tool, 'source'>) => boolean): string {
    const tools = this.toolsetIfAny()?.tools;
    return tools ? this.toolChanges.notice(tools, isMeant) : '';
  }

  /** What users read at the first turn: tools that filters hide, and unknown sections of the prompt. */
  report(state: SessionState): SettingsReport {
    const model = this.model(state);
    const unknown = unknownSections(this.settings.systemMessage).map(
      ({ id, isAppended }) =>
        `The system message edits a section named ${id}, which does not exist${isAppended ? '; its content was appended, and nothing is transformed' : ''}.`,
    );
    const isAsMade = this.isAsMade(state);
    const standIn = isAsMade ? modelWarning(this.access, model) : undefined;
    const effort = isAsMade ? this.warningAboutEffort(model, state.reasoningEffort) : undefined;
    return {
      hiddenTools: this.toolsetIfAny()?.hidden ?? [],
      warnings: [...unknown, ...(standIn ? [standIn] : []), ...(effort ? [effort] : [])],
    };
  }

  /** Some tools are there in one mode only. */
  private useMode(mode: SessionMode): void {
    if (mode === this.mode) return;
    this.mode = mode;
    this.toolset = undefined;
  }

  /** What was chosen since has been spoken of when it was. */
  private isAsMade({ model, reasoningEffort }: SessionState): boolean {
    const { settings } = this;
    return model === settings.model && reasoningEffort === settings.reasoningEffort;
  }

  private provider(state: SessionState, model: string): ModelProvider {
    const missing = missingSecret(state.fixed, this.settings, model);
    return missing === undefined ? this.access.provider : awaitedProvider(missing);
  }

  /** Clients whose tools clash learn of it when the turn begins, not before. */
  private toolsetIfAny(): Toolset | undefined {
    try {
      return this.currentToolset();
    } catch (error) {
      if (error instanceof ToolConflict) return undefined;
      throw error;
    }
  }

  /** What is hidden from the default agent is not hidden from others. */
  private unhiddenToolset(): Toolset {
    const current = this.currentToolset();
    return this.settings.defaultAgentExcludedTools ? agentToolset(this.sources, this.settings, {}) : current;
  }

  private toolsetContext(whole: Toolset) {
    const { sources, settings } = this;
    return { sources, settings, whole };
  }

  private windowOf(state: SessionState): number | undefined {
    const { contextWindow, maxPromptTokens } = this.info(this.model(state)) ?? {};
    return maxPromptTokens ?? contextWindow;
  }

  /** All that there are, whether the model gets their definitions or not. */
  private currentToolset(): Toolset {
    const { settings, sources } = this;
    this.toolset ??= makeToolset(sources, {
      exclusionWins: settings.exclusionWins,
      ...(settings.availableTools && { availableTools: settings.availableTools }),
      ...(settings.excludedTools && { excludedTools: settings.excludedTools }),
      ...(settings.defaultAgentExcludedTools && { hiddenFromRoot: settings.defaultAgentExcludedTools }),
    });
    return this.toolset;
  }
}
