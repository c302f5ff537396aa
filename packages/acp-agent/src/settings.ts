import { RequestError, type SessionConfigOption, type SessionModeState } from '@agentclientprotocol/sdk';
import type { Session } from '@groundcrew/sdk';

/** The modes of a session, as editors show them. */
const modes = [
  { id: 'interactive', name: 'Ask', description: 'Asks before anything is changed' },
  { id: 'plan', name: 'Plan', description: 'Makes a plan; nothing is changed before it is approved' },
  { id: 'autopilot', name: 'Autopilot', description: 'Goes on by itself until the task is done' },
];

const permissionModes = [
  { value: 'manual', name: 'Manual', description: 'Asks before what changes something' },
  { value: 'assisted', name: 'Assisted', description: 'Asks, but for what certainly only reads' },
  { value: 'allow-all', name: 'Allow all', description: 'Asks nothing' },
];

interface Choice {
  readonly value: string;
  readonly name: string;
  readonly description?: string;
}

/** What users can set in a session: its mode, model, effort, agent, and what it asks about. */
export class SessionSettings {
  constructor(private readonly session: Session) {}

  async modes(): Promise<SessionModeState> {
    return { currentModeId: await this.session.call('session.mode.get'), availableModes: modes };
  }

  /** Throws RequestError for a mode that is none. */
  async setMode(modeId: string): Promise<void> {
    if (!modes.some(({ id }) => id === modeId))
      throw RequestError.invalidParams({ modeId }, `there is no mode ${modeId}`);
    await this.session.call('session.mode.set', { mode: modeId });
  }

  async options(): Promise<SessionConfigOption[]> {
    const { session } = this;
    const [mode, model, models, agents, agent, permissions] = await Promise.all([
      session.call('session.mode.get'),
      session.call('session.model.getCurrent'),
      this.models(),
      this.agents(),
      session.call('session.agent.getCurrent').catch(() => undefined),
      session.call('session.permissions.getMode'),
    ]);
    const modelId = model.modelId ?? models[0]?.value ?? 'default';
    const efforts = models.find(({ value }) => value === modelId)?.efforts ?? [];
    const effort = model.reasoningEffort ?? '';
    return [
      select('mode', 'Mode', {
        category: 'mode',
        currentValue: mode,
        options: modes.map(({ id, ...rest }) => ({ value: id, ...rest })),
      }),
      select('model', 'Model', {
        category: 'model',
        currentValue: modelId,
        options: withCurrent(models, modelId),
      }),
      ...(efforts.length === 0
        ? []
        : [
            select('reasoning_effort', 'Effort', {
              category: 'thought_level',
              currentValue: effort || (efforts[0] ?? ''),
              options: withCurrent(
                efforts.map((value) => ({ value, name: value })),
                effort || (efforts[0] ?? ''),
              ),
            }),
          ]),
      select('permissions', 'Permissions', { currentValue: permissions.mode, options: permissionModes }),
      ...(agents.length === 0
        ? []
        : [
            select('agent', 'Agent', {
              currentValue: agent?.agent?.name ?? 'default',
              options: [{ value: 'default', name: 'Default' }, ...agents],
            }),
          ]),
    ];
  }

  /** Throws RequestError for an option or a value that is none. */
  async set(configId: string, value: string | boolean): Promise<void> {
    const options = await this.options();
    const option = options.find(({ id }) => id === configId);
    if (option?.type !== 'select')
      throw RequestError.invalidParams({ configId }, `there is no option ${configId}`);
    const known = option.options.some((each) => 'value' in each && each.value === value);
    if (!known || typeof value !== 'string')
      throw RequestError.invalidParams({ configId, value }, `${value} is no value of ${configId}`);
    const { session } = this;
    if (configId === 'mode') await this.setMode(value);
    else if (configId === 'model') await session.setModel(value);
    else if (configId === 'reasoning_effort')
      await session.call('session.model.setReasoningEffort', { reasoningEffort: value });
    else if (configId === 'permissions') await this.setPermissions(value);
    else if (value === 'default') await session.call('session.agent.deselect');
    else await session.call('session.agent.select', { name: value });
  }

  private async setPermissions(value: string): Promise<void> {
    type Mode = Parameters<typeof this.session.call<'session.permissions.setMode'>>[1]['mode'];
    await this.session.call('session.permissions.setMode', { mode: value as Mode }); // one of the table above
  }

  /** A service that names no models, or does not answer, leaves the model that there is. */
  private async models(): Promise<readonly (Choice & { readonly efforts: readonly string[] })[]> {
    const { list } = await this.session.call('session.model.list').catch(() => ({ list: [] }));
    // Services describe models their own way.
    return (list as readonly ListedModel[]).flatMap(({ id, name, supportedReasoningEfforts }) =>
      id === undefined ? [] : [{ value: id, name: name ?? id, efforts: supportedReasoningEfforts ?? [] }],
    );
  }

  private async agents(): Promise<readonly Choice[]> {
    const { agents } = await this.session
      .call('session.agent.list', { includeBuiltInAgents: false })
      .catch(() => ({ agents: [] }));
    return agents
      .filter(({ userInvocable }) => userInvocable !== false)
      .map(({ name, displayName, description }) => ({ value: name, name: displayName, description }));
  }
}

interface ListedModel {
  readonly id?: string;
  readonly name?: string;
  readonly supportedReasoningEfforts?: readonly string[];
}

function withCurrent(choices: readonly Choice[], current: string): readonly Choice[] {
  const isKnown = choices.some(({ value }) => value === current);
  return isKnown ? choices : [{ value: current, name: current }, ...choices];
}

function select(
  id: string,
  name: string,
  parts: {
    readonly category?: string;
    readonly currentValue: string;
    readonly options: readonly Choice[];
  },
): SessionConfigOption {
  const options = parts.options.map(({ value, name: label, description }) => ({
    value,
    name: label,
    ...(description !== undefined && { description }),
  }));
  return { ...parts, id, name, type: 'select', options };
}
