import type { EventData } from '@groundcrew/protocol';

/** What users are asked about a plan. */
export type PlanQuestion = Omit<EventData<'exit_plan_mode.requested'>, 'requestId' | 'model'>;

/** What users answered; undefined when no client that was asked could. */
export type PlanAnswer =
  | (Omit<EventData<'exit_plan_mode.completed'>, 'requestId' | 'approved'> & {
      readonly approved: boolean;
      /** The plan is approved, and is to be carried out another time. */
      readonly deferImplementation?: boolean;
    })
  | undefined;
