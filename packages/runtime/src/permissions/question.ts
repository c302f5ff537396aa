import type { EventData } from '@groundcrew/protocol';
import type { Definitions } from './definitions.js';

/** What a tool asks permission for, in the words of the wire. */
export type PermissionRequest = EventData<'permission.requested'>['permissionRequest'];

/** One question to be answered before a call may run. */
export interface PermissionQuestion {
  readonly request: PermissionRequest;
  /** How a dialogue shows it, where that is not the request itself. */
  readonly prompt?: EventData<'permission.requested'>['promptRequest'];
  /** What it is about is described otherwise than when approvals were given: those do not cover it. */
  readonly isChanged?: boolean;
  /** By name, a short form of how what it is about is described now: an approval of another description does not cover it. */
  readonly definitions?: Definitions;
  /** Where its path led, links followed, when the call was prepared: rules look there too. */
  readonly real?: readonly string[];
}

/** A question that depends on the answer to the one before it; throws ToolFailure when there is none. */
export type LaterQuestion = () => Promise<PermissionQuestion>;
