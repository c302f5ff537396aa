/** Every hook point by its name. */
export const hookTypes = [
  'agentStop',
  'errorOccurred',
  'postToolUse',
  'postToolUseFailure',
  'preMcpToolCall',
  'preToolUse',
  'sessionEnd',
  'sessionStart',
  'subagentStart',
  'subagentStop',
  'userPromptSubmitted',
  'userPromptTransformed',
] as const;
