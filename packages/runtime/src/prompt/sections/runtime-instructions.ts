import { type PromptSection, tagged } from '../section.js';

/** What the runtime itself has to say. */
export const runtimeInstructions: PromptSection = ({ mode, planPath, toolset }) => {
  const lines = [
    'Text in <system_reminder>, <system_notification> and <tools_changed_notice> comes from the runtime, not from the user.',
    '<tagged_files> and <github_references> name what the user attached: files and directories, and issues, pull requests and discussions on GitHub.',
    ...(mode === 'plan'
      ? [
          `You are in plan mode: look and think, write the plan to ${planPath}, and change nothing else until it is approved. Calls that would change anything else are refused.`,
          ...(toolset.find('exit_plan_mode')
            ? ['When the plan is complete, call exit_plan_mode to have it approved.']
            : []),
        ]
      : []),
    ...(mode === 'autopilot'
      ? [
          'You are in autopilot mode: go on without asking until the task is complete, then call task_complete.',
        ]
      : []),
  ];
  return tagged('system_notifications', lines.join('\n'));
};
