/** The names of the runtime's own tools. A client's tool of such a name has to say that it takes the other's place. */
export const builtinToolNames = [
  'ask_user',
  'bash',
  'create',
  'edit',
  'exit_plan_mode',
  'glob',
  'grep',
  'list_bash',
  'read_bash',
  'report_intent',
  'skill',
  'sql',
  'stop_bash',
  'task_complete',
  'view',
  'web_fetch',
] as const;
