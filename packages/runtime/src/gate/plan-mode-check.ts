import { realpath } from 'node:fs/promises';
import type { AgentLog } from '../log/agent-log.js';
import { modeOf } from '../log/state.js';
import type { Refusal } from '../permissions/decision.js';
import { isHarmlessForPlan, planModeRefusal } from '../permissions/plan-mode.js';
import type { PermissionQuestion } from '../permissions/question.js';
import { examine } from '../permissions/subject.js';
import type { Tool, ToolEnvironment } from '../tools/tool.js';
import { planPathIn } from '../workspace/plan.js';
import type { CallToRun } from './call.js';

interface HoldParts {
  readonly log: AgentLog;
  toolEnvironment(): Pick<ToolEnvironment, 'sessionDirectory' | 'sync'>;
}

/**
 * Holds back what plan mode does not allow, whatever rules, approvals and hooks say. The mode may change while users are
 * asked: what was asked is judged once more before the call runs.
 */
export class PlanModeCheck {
  private readonly asked: PermissionQuestion[] = [];

  constructor(
    private readonly parts: HoldParts,
    private readonly call: CallToRun,
    private readonly tool: Pick<Tool, 'changesNothing'> | undefined,
  ) {}

  get isPlanning(): boolean {
    return modeOf(this.parts.log.session) === 'plan';
  }

  /** Why the call may not go on with this question; undefined when it may. */
  async refusalOf(question: PermissionQuestion): Promise<Refusal | undefined> {
    this.asked.push(question);
    return (await this.isHeld([question])) ? planModeRefusal(this.call.name) : undefined;
  }

  /** The last look before the call runs: one that asked for nothing must say of itself that it changes nothing. */
  async refusal(): Promise<Refusal | undefined> {
    const isHeld =
      this.isPlanning &&
      (this.asked.length === 0 ? !this.tool?.changesNothing : await this.isHeld(this.asked));
    return isHeld ? planModeRefusal(this.call.name) : undefined;
  }

  private async isHeld(questions: readonly PermissionQuestion[]): Promise<boolean> {
    if (!this.isPlanning || this.tool?.changesNothing) return false;
    const { log, toolEnvironment } = this.parts;
    const occasion = { toolName: this.call.name, workingDirectory: log.session.context.cwd };
    const files = await planFiles(toolEnvironment());
    for (const question of questions)
      if (!isHarmlessForPlan(await examine(question, occasion), files)) return true;
    return false;
  }
}

/** The home may be reached by links, which are the user's; the plan itself may not be one. */
async function planFiles({
  sessionDirectory,
  sync,
}: Pick<ToolEnvironment, 'sessionDirectory' | 'sync'>): Promise<readonly string[]> {
  const real = await realpath(sessionDirectory).catch(() => sessionDirectory);
  const plan = planPathIn(sessionDirectory);
  return [plan, planPathIn(real), sync?.shown(plan) ?? plan];
}
