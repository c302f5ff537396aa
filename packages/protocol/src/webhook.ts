/** What a webhook may be sent for. */
export const webhookEvents = ['session.waiting', 'session.ended', 'session.error'] as const;

export type WebhookEvent = (typeof webhookEvents)[number];

/** The questions that a session may wait for, as settings of webhooks name them. */
export const waitKinds = [
  'permission',
  'user_input',
  'elicitation',
  'exit_plan_mode',
  'auto_mode_switch',
  'session_limits',
  'external_tool',
  'sampling',
] as const;

export type WaitKind = (typeof waitKinds)[number];
