import { resolve } from 'node:path';
import type { DeniedPaths } from '../exec/denied-paths.js';
import type { MachineSandbox } from '../exec/machine-sandbox.js';
import type { Confinement } from '../exec/sandbox-confinement.js';
import {
  type Placement,
  placementOf,
  requiresSandbox,
  type SandboxSettings,
  SandboxUnavailable,
  wantsSandbox,
} from '../exec/sandbox-settings.js';
import type { SessionState } from '../log/state.js';
import { describeRule, type Rule } from '../permissions/rules.js';
import type { ShellOptions } from '../tools/shell/shells.js';
import { ownParts } from '../workspace/writable-parts.js';
import type { PermissionPlaces, PlacedSession } from './permission-places.js';

/** The session whose commands are confined, and what its rules deny. */
export interface ConfinedSession extends PlacedSession {
  readonly permissions: {
    readonly places: PermissionPlaces;
    prohibitions(state: SessionState): { readonly deny: readonly Rule[] };
  };
}

/** What holds for the next command, in the words of the wire. */
export interface SandboxStatus {
  /** A sandbox was asked for: without it nothing runs. */
  readonly required: boolean;
  /** Nothing runs, because a sandbox is required and does not work. */
  readonly blocked: boolean;
  readonly reason?: string;
  /** The next command runs in it. */
  readonly enabled: boolean;
  readonly executor: 'host' | 'bwrap' | 'seatbelt';
  readonly network: boolean;
}

/** Where a session's commands run. Asked before each of them, since mode, rules and settings change meanwhile. */
export class SessionSandbox {
  private readonly warned = new Set<string>();

  constructor(
    private readonly session: ConfinedSession,
    private readonly machine: { readonly sandbox: MachineSandbox; readonly options: ShellOptions },
  ) {}

  /** What the next command may touch; undefined when it runs as the user. Throws SandboxUnavailable. */
  async confinement(): Promise<Confinement | undefined> {
    const state = await this.session.state();
    const placement = await this.placement(state);
    if (placement.type === 'refused') throw new SandboxUnavailable(placement.reason);
    if (placement.type === 'host') {
      if (placement.missing !== undefined)
        await this.warn('sandbox', `Commands run without a sandbox: ${placement.missing}.`);
      return undefined;
    }
    return this.confine(placement.kind, state);
  }

  /** Deny rules for paths that nothing holds while the next command runs; clients receive once which do not. */
  async unenforcedRules(): Promise<readonly Rule[]> {
    const state = await this.session.state();
    const rules = this.session.permissions.prohibitions(state).deny;
    if (rules.length === 0) return [];
    const isConfined = (await this.placement(state)).type === 'confined';
    const roots = this.session.permissions.places.list(state).directories;
    const open = await findUnenforced(rules, { workingDirectory: state.context.cwd, roots, isConfined });
    if (open.length > 0) await this.warn('permissions', openText(open, isConfined));
    return open;
  }

  async status(): Promise<SandboxStatus> {
    const state = await this.session.state();
    const placement = await this.placement(state);
    const settings = this.settings(state);
    const reason =
      placement.type === 'refused' ? placement.reason : placement.type === 'host' && placement.missing;
    return {
      required: requiresSandbox(settings),
      blocked: placement.type === 'refused',
      ...(reason ? { reason } : {}),
      enabled: placement.type === 'confined',
      executor: placement.type === 'confined' ? placement.kind : 'host',
      network: placement.type !== 'confined' || (settings.network ?? true),
    };
  }

  private settings({ fixed }: SessionState): SandboxSettings {
    return this.session.currentSettings.sandbox ?? fixed.sandbox ?? this.machine.options.sandbox ?? {};
  }

  private async placement(state: SessionState): Promise<Placement> {
    const settings = this.settings(state);
    const { mode } = state.permissions;
    if (!wantsSandbox(settings, mode)) return { type: 'host' };
    return placementOf(settings, mode, await this.machine.sandbox.probe());
  }

  private async confine(kind: Confinement['kind'], state: SessionState): Promise<Confinement> {
    const settings = this.settings(state);
    for (const field of settings.unused ?? []) await this.warn('sandbox', `${field} has no effect.`);
    const { workspacePath, permissions } = this.session;
    const { cwd } = state.context;
    const { directories } = permissions.places.list(state);
    const whole = (paths: readonly string[] = []) => paths.map((path) => resolve(cwd, path));
    const isKept = (path: string) =>
      path !== workspacePath && (settings.writesWorkingDirectory !== false || path !== cwd);
    const own = directories.filter(isKept);
    const parts = ownParts(workspacePath);
    const { homeDirectory } = this.machine.options;
    const { hidden, frozen, isNarrow } = await this.denied(state);
    return {
      kind,
      writable: [...own, ...(parts?.writable ?? []), ...whole(settings.writablePaths)],
      readOnly: [
        ...(parts ? [parts.directory] : []),
        ...this.alsoShown(state),
        ...whole(settings.readOnlyPaths),
      ],
      hidden: [...hidden, ...whole(settings.deniedPaths)],
      frozen,
      runtimeHomes: [permissions.places.home, ...(homeDirectory === undefined ? [] : [homeDirectory])],
      isNarrow,
      hasNetwork: settings.network ?? true,
      hasKeychain: settings.keychain ?? false,
    };
  }

  /** The working directory where it may only be read, and a client's own place for long results. */
  private alsoShown(state: SessionState): readonly string[] {
    const { outputDir = '' } = this.session.currentSettings.largeOutput ?? {};
    return [
      ...(this.settings(state).writesWorkingDirectory === false ? [state.context.cwd] : []),
      ...(outputDir === '' ? [] : [outputDir]),
    ];
  }

  private denied(state: SessionState): Promise<DeniedPaths> {
    const { deny } = this.session.permissions.prohibitions(state);
    const roots = this.session.permissions.places.list(state).directories;
    return deniedNow(deny, { workingDirectory: state.context.cwd, roots });
  }

  private async warn(warningType: string, message: string): Promise<void> {
    if (this.warned.has(message)) return;
    this.warned.add(message);
    await this.session.record({ type: 'session.warning', data: { warningType, message } });
  }
}

/** Which deny rules for paths nothing holds while a command runs. */
export async function findUnenforced(
  deny: readonly Rule[],
  where: {
    readonly workingDirectory: string;
    readonly roots: readonly string[];
    readonly isConfined: boolean;
  },
): Promise<readonly Rule[]> {
  const { deniesPaths } = await import('../exec/denied-paths.js');
  const rules = deny.filter(deniesPaths);
  if (rules.length === 0 || !where.isConfined) return rules;
  return (await deniedNow(rules, where)).tooWide;
}

async function deniedNow(
  deny: readonly Rule[],
  where: { readonly workingDirectory: string; readonly roots: readonly string[] },
): Promise<DeniedPaths> {
  const [{ findDenied }, { fileSearch }] = await Promise.all([
    import('../exec/denied-paths.js'),
    import('../tools/file-search.js'),
  ]);
  return findDenied(deny, where, fileSearch());
}

function openText(open: readonly Rule[], isConfined: boolean): string {
  const [first, ...more] = open.map(describeRule);
  const rules = more.length === 0 ? first : `${first} and ${more.length} more`;
  const reason = isConfined
    ? 'too many files would have to be searched or hidden for it to hold in the sandbox'
    : 'commands of this session run without a sandbox';
  return `The file tools keep to the rule ${rules}; commands may not, because ${reason}. A command that could touch such a path is asked about, whatever else would permit it.`;
}
