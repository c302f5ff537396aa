import type { Draft, EphemeralDraft } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { unknownNameWarnings } from '../settings/unknown-names.js';
import { skillContext } from '../tools/skill-context.js';
import type { Tool } from '../tools/tool.js';
import type { ToolSource } from '../tools/tool-source.js';
import type { HostSkills } from './host-skills.js';
import { shownSkill } from './shown-skill.js';
import { readSkillBody } from './skill.js';
import type { PlacedSkill, SkillShelf } from './skill-library.js';
import { skillRoots } from './skill-roots.js';
import { invokedData, skillTool } from './skill-tool.js';

/** The session whose skills these are. */
interface SkillSession {
  readonly currentSettings: SessionSettings;
  readonly loadedState: SessionState | undefined;
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
  emit(draft: EphemeralDraft): Promise<string>;
}

/** Where skills come from besides the app and the project. */
export interface SkillEnvironment {
  readonly hostSkills: HostSkills;
  /** Homes of the user: that of the session first. */
  readonly homes: readonly string[];
}

/** A skill, and whether the session may use it. */
export interface SessionSkill extends PlacedSkill {
  readonly enabled: boolean;
}

/** The skills of one session: those on the disk, less those that were switched off. */
export class SessionSkills implements ToolSource {
  readonly kind = 'builtin';
  /** Reading the disk takes no time that a sender would notice. */
  readonly isReady = true;
  private shelf: SkillShelf | undefined;
  private places = '';
  private offered: { readonly basis: readonly unknown[]; readonly tools: readonly Tool[] } = {
    basis: [],
    tools: [],
  };
  private readonly listeners = new Set<() => void>();
  private readonly warned = new Set<string>();
  /** Names of skills to switch off that were looked for. */
  private readonly lookedFor = new Set<string>();
  /** Clients know of some. */
  private hasSkills = false;

  constructor(
    private readonly session: SkillSession,
    private readonly environment: SkillEnvironment,
  ) {}

  ready(): Promise<void> {
    return this.refresh();
  }

  /** Brings the list up to date with the disk; clients learn of what has changed. */
  async refresh(options: { readonly isForced?: boolean } = {}): Promise<void> {
    const shelf = this.open(await this.session.state());
    const hasChanged = (await shelf?.refresh(options)) ?? false;
    if (hasChanged) this.announce(shelf?.skills.length ?? 0);
    this.warnOfNames();
    if (this.updateTools()) for (const listener of this.listeners) listener();
  }

  tools(): readonly Tool[] {
    return this.offered.tools;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.shelf?.close();
    this.shelf = undefined;
    this.places = '';
  }

  /** Every skill there is, in the order of precedence. */
  get all(): readonly SessionSkill[] {
    const isEnabled = this.switches();
    return (this.shelf?.skills ?? []).map((skill) => ({ ...skill, enabled: isEnabled(skill.name) }));
  }

  /** The same as the disk has it now. */
  async list() {
    await this.refresh();
    return this.all.map(shownSkill);
  }

  /** What is wrong with skills: `errors` are why one is not there. */
  get diagnostics(): { readonly warnings: readonly string[]; readonly errors: readonly string[] } {
    const { warnings = [], notes = [], errors = [] } = this.shelf ?? {};
    return { warnings: [...warnings, ...notes], errors };
  }

  /** Switches a skill on or off for this session. */
  async turn(name: string, isOn: boolean): Promise<void> {
    const { fixed } = await this.session.state();
    const skillSwitches = { ...fixed.skillSwitches, [name]: isOn };
    await this.session.record({ note: 'settings.fixed', data: { skillSwitches } });
    await this.refresh();
  }

  /** The skills that users may start as commands. */
  get commands(): readonly SessionSkill[] {
    return this.all.filter(({ enabled, userInvocable }) => enabled && userInvocable);
  }

  /** The prompt that a skill makes of a user's command; undefined when there is no such skill. */
  async commandPrompt(
    name: string,
    args: string,
  ): Promise<
    { readonly prompt: string; readonly displayPrompt: string; readonly invoked: Draft } | undefined
  > {
    await this.refresh();
    const skill = this.commands.find((each) => each.name === name);
    if (!skill) return undefined;
    const content = await readSkillBody(skill);
    const request = args.trim() === '' ? 'Follow the instructions of this skill.' : args.trim();
    const data = invokedData(skill, content, 'user-invoked');
    return {
      prompt: `${skillContext(skill, content)}\n\n${request}`,
      displayPrompt: `/${name}${args.trim() === '' ? '' : ` ${args.trim()}`}`,
      invoked: { type: 'skill.invoked', data },
    };
  }

  /** The texts of these skills, for an agent that has them from the start; names that are not there are left out. */
  async contextsOf(names: readonly string[]): Promise<readonly string[]> {
    const skills = this.all.filter(({ name, enabled }) => enabled && names.includes(name));
    return Promise.all(skills.map(async (skill) => skillContext(skill, await readSkillBody(skill))));
  }

  private open(state: SessionState): SkillShelf | undefined {
    const roots = this.roots(state);
    const places = JSON.stringify(roots);
    if (places === this.places) return this.shelf;
    const before = this.shelf;
    this.places = places;
    this.shelf = roots.length === 0 ? undefined : this.environment.hostSkills.library.shelf(roots);
    before?.close();
    return this.shelf;
  }

  private roots({ context, fixed }: SessionState) {
    const { currentSettings: settings } = this.session;
    if (settings.skillsEnabled === false) return [];
    const isDiscovering = settings.configDiscovery ?? true;
    const { homes } = this.environment;
    const { cwd, gitRoot } = context;
    const parent = gitRoot !== undefined && gitRoot !== cwd ? [gitRoot] : [];
    return skillRoots({
      directories: settings.skillDirectories ?? fixed.skillDirectories ?? [],
      projects: isDiscovering ? [cwd, ...parent] : [],
      homes: isDiscovering ? homes : homes.slice(0, settings.configDir === undefined ? 0 : 1),
    });
  }

  private switches(): (name: string) => boolean {
    const [, session, user, own = {}] = this.basis();
    const off = new Set([...session, ...user]);
    return (name) => (Object.hasOwn(own, name) ? (own[name] ?? true) : !off.has(name));
  }

  /** What the offer rests on. */
  private basis() {
    const { fixed = {} } = this.session.loadedState ?? {};
    const { disabledSkills = fixed.disabledSkills ?? nothing } = this.session.currentSettings;
    const skills = this.shelf?.skills ?? nothing;
    return [
      skills,
      disabledSkills,
      this.environment.hostSkills.disabled.read(),
      fixed.skillSwitches,
    ] as const;
  }

  /** True when the model is to be offered others than before. */
  private updateTools(): boolean {
    const basis = this.basis();
    if (basis.every((part, index) => part === this.offered.basis[index])) return false;
    const skills = this.all.filter(({ enabled }) => enabled);
    this.offered = { basis, tools: skills.length === 0 ? [] : [skillTool(skills)] };
    return true;
  }

  /** Names of skills to switch off that no skill has; once, when it is known which there are. */
  private warnOfNames(): void {
    if (this.session.currentSettings.skillsEnabled === false) return;
    const [skills, given] = this.basis();
    const known = skills.map(({ name }) => name);
    const fresh = given.filter((name) => !this.lookedFor.has(name));
    for (const name of fresh) this.lookedFor.add(name);
    const messages = unknownNameWarnings('disabledSkills', fresh, { known, what: 'skill' });
    if (messages.length > 0) void this.session.record(...messages.map(warningOf)).catch(unwritable);
  }

  private announce(count: number): void {
    const { warnings = [], errors = [] } = this.shelf ?? {};
    const fresh = [...errors, ...warnings].filter((message) => !this.warned.has(message));
    for (const message of fresh) this.warned.add(message);
    const shown = fresh.slice(0, mostWarnings);
    const left = fresh.length - shown.length;
    const messages = left > 0 ? [...shown, `${left} more problems: see session.skills.reload`] : shown;
    const isNews = count > 0 || this.hasSkills;
    this.hasSkills = count > 0;
    void this.session
      .record(
        ...messages.map(warningOf),
        ...(isNews
          ? [{ type: 'session.skills_loaded' as const, data: { skills: this.all.map(shownSkill) } }]
          : []),
      )
      .catch(unwritable);
  }
}

const mostWarnings = 20;

function warningOf(message: string): Draft {
  return { type: 'session.warning', data: { warningType: 'skills', message } };
}

const nothing: readonly never[] = [];

/** A turn that cannot write ends by itself. */
const unwritable = (): undefined => undefined;
