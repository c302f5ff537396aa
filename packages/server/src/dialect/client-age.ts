import type { Methods, ParsedParams } from '@groundcrew/protocol';

/**
 * How a client reads events and answers. `new`: as the tables of the protocol say. `old`: releases before 1.0.0-beta.10,
 * whose parsers refuse some of it. `oldest`: those of them before 0.3.0, which also expect objects where later ones do not.
 */
export type Age = 'new' | 'old' | 'oldest';

/** What is known of a connection when it opens a session. */
export interface OpeningConnection {
  /** Its first request was `connect`; releases before 1.0.0-beta only ping. */
  readonly hasConnected: boolean;
  /** The client started this process with `--server`. */
  readonly isServerFlag: boolean;
}

/** What a client says of itself when it creates or resumes a session. */
export type OpenParams = ParsedParams<Methods['session.resume']>;

/**
 * The one place that decides how old a client is. All releases from 1.0.0-beta.10 on send `toolFilterPrecedence`, except
 * those for Java: they start the runtime with `--server`, send `connect`, and leave out every switch that is off.
 */
export function ageOf(params: OpenParams, { hasConnected, isServerFlag }: OpeningConnection): Age {
  if (params.toolFilterPrecedence !== undefined) return 'new';
  if (hasConnected) return isServerFlag || omitsSwitches(params) ? 'new' : 'old';
  return params.includeSubAgentStreamingEvents === undefined ? 'oldest' : 'old';
}

/**
 * Releases from 1.0.5 on read a `shell_exit`, those from 1.0.0-beta.10 to 1.0.4 fail at it. They send the same, but for these
 * fields, which came with 1.0.5 and which apps may leave out.
 */
export function isAfterShellExit({
  enableCitations,
  excludedBuiltinAgents,
  sessionLimits,
}: OpenParams): boolean {
  return [enableCitations, excludedBuiltinAgents, sessionLimits].some((field) => field !== undefined);
}

/** Other releases with `connect` always send `includeSubAgentStreamingEvents`, and switches that are off as `false`. */
function omitsSwitches(params: OpenParams): boolean {
  const switches = [
    params.requestUserInput,
    params.requestElicitation,
    params.requestExitPlanMode,
    params.requestAutoModeSwitch,
    params.hooks,
  ];
  return (
    params.envValueMode === 'direct' &&
    params.includeSubAgentStreamingEvents === undefined &&
    !switches.includes(false)
  );
}
