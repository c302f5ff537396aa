import type { ExecutorKind } from './executor.js';
import type { Probe } from './sandbox-probe.js';

/**
 * Which executor is wanted: `auto` is the sandbox where it works, `required` the sandbox or nothing, a name that one or
 * nothing.
 */
export type ExecutorChoice = ExecutorKind | 'auto' | 'required';

/** What clients and operators set for a session's sandbox; plain data, kept in the log. */
export interface SandboxSettings {
  /** Without it the mode decides: who is not asked is confined, where that works. */
  readonly executor?: ExecutorChoice;
  /** On unless switched off. */
  readonly network?: boolean;
  /** The working directory may be written unless this is false. */
  readonly writesWorkingDirectory?: boolean;
  readonly writablePaths?: readonly string[];
  readonly readOnlyPaths?: readonly string[];
  readonly deniedPaths?: readonly string[];
  /** Of macOS. */
  readonly keychain?: boolean;
  /** Fields that a client sent and nothing goes by; it is warned. */
  readonly unused?: readonly string[];
}

/** Where the next command runs. */
export type Placement =
  | {
      readonly type: 'host';
      /** Why there is no sandbox, where one was wanted. */
      readonly missing?: string;
    }
  | { readonly type: 'confined'; readonly kind: Exclude<ExecutorKind, 'host'> }
  /** A sandbox is required and does not work: nothing runs. */
  | { readonly type: 'refused'; readonly reason: string };

/** Settings that only a sandbox can keep make it required. */
function choiceOf(settings: SandboxSettings): ExecutorChoice | undefined {
  const { executor, network, writesWorkingDirectory, deniedPaths = [] } = settings;
  if (executor !== undefined && executor !== 'auto') return executor;
  const protects = network === false || writesWorkingDirectory === false || deniedPaths.length > 0;
  return protects ? 'required' : executor;
}

/** Who answers questions: users, users but for what certainly only reads, or no one. */
type Mode = 'manual' | 'assisted' | 'allow-all';

/** Whether commands are to run in a sandbox. Only a probe shows whether there is one. */
export function wantsSandbox(settings: SandboxSettings, mode: Mode): boolean {
  const choice = choiceOf(settings);
  return choice !== 'host' && (choice !== undefined || mode !== 'manual');
}

/** Whether commands are refused where there is no sandbox. */
export function requiresSandbox(settings: SandboxSettings): boolean {
  const choice = choiceOf(settings);
  return choice !== undefined && choice !== 'auto' && choice !== 'host';
}

/** Where commands run under these settings, in this mode, on this machine. Pure. */
export function placementOf(settings: SandboxSettings, mode: Mode, probe: Probe): Placement {
  if (!wantsSandbox(settings, mode)) return { type: 'host' };
  const choice = choiceOf(settings);
  const isRequired = requiresSandbox(settings);
  if (probe.type === 'missing')
    return isRequired ? { type: 'refused', reason: probe.reason } : { type: 'host', missing: probe.reason };
  const { kind } = probe.sandbox;
  if ((choice === 'bwrap' || choice === 'seatbelt') && choice !== kind)
    return { type: 'refused', reason: `the sandbox ${choice} is not of this system; ${kind} is, or auto` };
  return { type: 'confined', kind };
}

/** A sandbox that was asked for cannot be had. */
export class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable';

  constructor(reason: string) {
    super(`A sandbox was asked for and cannot be had: ${reason}`);
  }
}
