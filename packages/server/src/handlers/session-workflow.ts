import type { Methods, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import {
  addLines,
  agentWish,
  factoryLimits,
  keepStep,
  progressPage,
  type Run,
  readStep,
  workflowCall,
} from '../factory-calls.js';
import { runDetail, runSummary } from '../factory-run-detail.js';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.workflow.${string}`>;

export const sessionWorkflowHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.workflow.run'({ name, args, options }, context) {
    return workflowCall(context, async (factories) => {
      requireNoExtras(options);
      return shown(await factories.run(name, args, factoryLimits(options?.limits)));
    });
  },
  async 'session.workflow.resume'({ runId, limits, ...options }, context) {
    return workflowCall(context, async (factories) => {
      requireNoExtras(options);
      const run = await factories.resume(runId, factoryLimits(limits));
      return { workflowName: run.factoryName, run: shown(run) };
    });
  },
  async 'session.workflow.getRun'({ runId }, context) {
    return workflowCall(context, async (factories) => shown(await found(factories, runId)));
  },
  async 'session.workflow.getRunDetail'({ runId }, context) {
    return workflowCall(context, async (factories) => {
      const run = await found(factories, runId);
      return { workflowName: run.factoryName, ...(await runDetail(run, context.session)) };
    });
  },
  async 'session.workflow.getRunProgress'({ runId, phaseId, ...page }, context) {
    const { afterSeq = 0, beforeSeq = Infinity, limit = 100 } = page;
    return workflowCall(context, async (factories) =>
      progressPage(await found(factories, runId), { phaseId, afterSeq, beforeSeq, limit }),
    );
  },
  async 'session.workflow.listRuns'({ afterSeq = 0, beforeSeq = Infinity, limit = 100 }, context) {
    return workflowCall(context, async (factories) => {
      const all = (await factories.list()).map((run, index) => ({ run, seq: index + 1 }));
      const inRange = all.filter(({ seq }) => seq > afterSeq && seq < beforeSeq);
      const page = afterSeq > 0 ? inRange.slice(0, limit) : inRange.slice(-limit);
      const [oldestSeq, newestSeq] = [page[0]?.seq ?? null, page.at(-1)?.seq ?? null];
      return {
        runs: page.map(({ run }) => ({ workflowName: run.factoryName, ...runSummary(run, factories) })),
        oldestSeq,
        newestSeq,
        hasMoreNewer: newestSeq !== null && newestSeq < all.length,
        omittedOlder: oldestSeq === null ? 0 : oldestSeq - 1,
      };
    });
  },
  async 'session.workflow.cancel'({ runId }, context) {
    return workflowCall(context, async (factories) => shown(await factories.cancel(runId)));
  },
  async 'session.workflow.pause'({ runId }, context) {
    return workflowCall(context, async (factories) => shown(await factories.pause(runId)));
  },
  async 'session.workflow.pauseAtCheckpoint'({ runId, executionToken, key }, context) {
    return workflowCall(context, async (factories) => ({
      action: await factories.checkpoint(runId, executionToken, key),
    }));
  },
  async 'session.workflow.log'(params, context) {
    return workflowCall(context, (factories) => addLines(factories, params));
  },
  async 'session.workflow.journal.get'(params, context) {
    return workflowCall(context, (factories) => readStep(factories, params));
  },
  async 'session.workflow.journal.put'(params, context) {
    return workflowCall(context, (factories) => keepStep(factories, params));
  },
  async 'session.workflow.agent'({ workflowRunId: runId, executionToken, prompt, opts }, context) {
    return workflowCall(context, async (factories) => ({
      result: await factories.agent(runId, executionToken, agentWish(prompt, opts, 'workflows')),
    }));
  },
};

async function found(factories: Session['factories'], runId: string): Promise<Run> {
  const run = await factories.find(runId);
  if (!run) throw new Refusal(`Workflow run ${runId} was not found`);
  return run;
}

/** What has no effect is refused; what clients send by default is not. */
function requireNoExtras(options: Readonly<Record<string, unknown>> = {}): void {
  const { resumeFromRunId, notifyOnComplete, logPhaseNames } = options;
  if (resumeFromRunId !== undefined)
    throw new Refusal(
      "'resumeFromRunId' has no effect in this version: 'session.workflow.resume' goes on with a run.",
    );
  if (notifyOnComplete === true)
    throw new Refusal("'notifyOnComplete' has no effect in this version: watch 'workflow.run_updated'.");
  if (logPhaseNames === true)
    throw new Refusal(
      "'logPhaseNames' has no effect in this version: 'session.workflow.getRunDetail' has the phases.",
    );
}

function shown(run: Run): Result<Methods['session.workflow.getRun']> {
  const { runId, attempt, status, result, error, pause } = run;
  return {
    runId,
    attempt,
    status,
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
    ...(pause && { pauseInfo: pause }),
  };
}
