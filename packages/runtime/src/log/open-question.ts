import type { EventOf } from '@groundcrew/protocol';

/** A question to users without an answer yet. */
export type OpenQuestion =
  | {
      readonly kind: 'permission';
      readonly requestId: string;
      readonly toolCallId: string;
      readonly event: EventOf<'permission.requested'>['data'];
    }
  | {
      readonly kind: 'external_tool';
      readonly requestId: string;
      readonly toolCallId: string;
      readonly event: EventOf<'external_tool.requested'>['data'];
    }
  | {
      readonly kind: 'user_input';
      readonly requestId: string;
      readonly toolCallId: string;
      readonly event: EventOf<'user_input.requested'>['data'];
    }
  | {
      readonly kind: 'session_limits';
      readonly requestId: string;
      /** It belongs to no call. */
      readonly toolCallId: '';
      readonly event: EventOf<'session_limits_exhausted.requested'>['data'];
    }
  | {
      readonly kind: 'exit_plan_mode';
      readonly requestId: string;
      readonly toolCallId: string;
      readonly event: EventOf<'exit_plan_mode.requested'>['data'];
    }
  | {
      readonly kind: 'auto_mode_switch';
      readonly requestId: string;
      /** It belongs to no call. */
      readonly toolCallId: '';
      readonly event: EventOf<'auto_mode_switch.requested'>['data'];
    }
  | OpenRequest;

/** A question that belongs to no turn: an app or an MCP server waits for its answer. */
export type OpenRequest =
  | {
      readonly kind: 'elicitation';
      readonly requestId: string;
      /** The call during which it was asked, if any. */
      readonly toolCallId: string;
      readonly event: EventOf<'elicitation.requested'>['data'];
    }
  | {
      readonly kind: 'sampling';
      readonly requestId: string;
      readonly toolCallId: string;
      readonly event: EventOf<'sampling.requested'>['data'];
    };

/** Questions whose events are not stored: a private record keeps them. */
export type KeptQuestion =
  | Extract<OpenQuestion, { kind: 'exit_plan_mode' | 'auto_mode_switch' }>
  | OpenRequest;
