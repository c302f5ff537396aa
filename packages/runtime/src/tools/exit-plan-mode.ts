import { readPlanIn } from '../workspace/plan.js';
import { defineTool } from './define-tool.js';
import { optional, text } from './fields.js';
import type { PlanAnswer, PlanQuestion } from './plan-question.js';
import type { Tool, ToolResult } from './tool.js';

/** Lets the model ask for approval of its plan; offered in plan mode, where a client answers such. */
export function exitPlanModeTool(): Tool {
  return defineTool({
    name: 'exit_plan_mode',
    description:
      'Shows the plan to the user and asks for approval to leave plan mode. Write the whole plan to the plan file first. Call it only when the plan is complete.',
    changesNothing: true,
    isFree: true,
    fields: {
      summary: text('The plan in a few words.'),
      recommendedAction: optional(
        text(
          'What you recommend next: "interactive", "autopilot" or "exit_only"; "interactive" unless given.',
        ),
      ),
    },
    intention: ({ summary }) => summary,
    prepare: async ({ summary, recommendedAction }, { sessionDirectory, sync }) => ({
      type: 'ask-about-plan',
      question: {
        summary,
        planContent: (await readPlanIn(sessionDirectory, sync)) ?? '',
        actions,
        recommendedAction: actions.find((action) => action === recommendedAction) ?? 'interactive',
      },
    }),
  });
}

/** What may follow a plan. */
const actions: PlanQuestion['actions'] = ['autopilot', 'interactive', 'exit_only'];

/** The mode that a session is in after its plan was approved. */
export function modeAfter({ selectedAction }: NonNullable<PlanAnswer>): 'interactive' | 'autopilot' {
  return selectedAction === 'autopilot' || selectedAction === 'autopilot_fleet' ? 'autopilot' : 'interactive';
}

/** What the model reads of the answer. */
export function resultOfPlan(answer: PlanAnswer): ToolResult {
  if (!answer) return { type: 'failure', text: unanswered };
  const { approved, feedback, selectedAction, deferImplementation } = answer;
  if (!approved) return { type: 'success', text: feedback ? refused(feedback) : refusedInSilence };
  const isDeferred = deferImplementation || selectedAction === 'exit_only';
  return { type: 'success', text: isDeferred ? deferred : started(modeAfter(answer)) };
}

function started(mode: string): string {
  return `Plan approved! Exited plan mode.\n\nYou are now in ${mode} mode. Start implementing the plan now, in this same response. Approving the plan is your go-signal, so do not stop to ask whether to proceed or wait for another message.`;
}

const deferred =
  'Plan approved! Exited plan mode.\n\nThe user does not want the plan carried out yet. Change nothing now, and end your response.';

function refused(feedback: string): string {
  return `Plan not approved. User feedback:\n\n${feedback}\n\nPlease update the plan based on this feedback and try again.`;
}

const refusedInSilence =
  'Plan not approved. You are still in plan mode. Ask what should change, update the plan and try again.';

const unanswered =
  'The plan could not be shown: no client here answers such questions. You are still in plan mode. End your response with the plan.';
