import type { Methods, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import {
  addLines,
  agentWish,
  factoryCall,
  keepStep,
  factoryLimits as limitsFrom,
  progressPage,
  type Run,
  readStep,
} from '../factory-calls.js';
import { runDetail } from '../factory-run-detail.js';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.factory.${string}`>;

export const sessionFactoryHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.factory.run'({ name, args, options }, context) {
    return factoryCall(context, async (factories) =>
      shown(await factories.run(name, args, limitsFrom(options?.limits))),
    );
  },
  async 'session.factory.resume'({ runId, limits }, context) {
    return factoryCall(context, async (factories) => {
      const run = await factories.resume(runId, limitsFrom(limits));
      return { factoryName: run.factoryName, run: shown(run) };
    });
  },
  async 'session.factory.getRun'({ runId }, context) {
    return factoryCall(context, async (factories) => shown(await found(factories, runId)));
  },
  async 'session.factory.getRunDetail'({ runId }, context) {
    return factoryCall(context, async (factories) => {
      const run = await found(factories, runId);
      const { status, ...detail } = await runDetail(run, context.session);
      return { factoryName: run.factoryName, ...detail, status: olderStatus(status) };
    });
  },
  async 'session.factory.pause'({ runId }, context) {
    return factoryCall(context, async (factories) => {
      const run = await factories.pause(runId);
      // A client that calls this knows pauses.
      return {
        ...shown(run),
        status: run.status,
        attempt: run.attempt,
        ...(run.pause && { pauseInfo: run.pause }),
      };
    });
  },
  async 'session.factory.pauseAtCheckpoint'({ runId, executionToken, key }, context) {
    return factoryCall(context, async (factories) => ({
      action: await factories.checkpoint(runId, executionToken, key),
    }));
  },
  async 'session.factory.listRuns'(_params, context) {
    return factoryCall(context, async (factories) => ({
      runs: (await factories.list()).map(summary),
    }));
  },
  async 'session.factory.getRunProgress'(
    { runId, afterSeq = 0, beforeSeq = Infinity, limit = 100 },
    context,
  ) {
    return factoryCall(context, async (factories) =>
      progressPage(await found(factories, runId), { afterSeq, beforeSeq, limit }),
    );
  },
  async 'session.factory.cancel'({ runId }, context) {
    return factoryCall(context, async (factories) => shown(await factories.cancel(runId)));
  },
  async 'session.factory.log'(params, context) {
    return factoryCall(context, (factories) => addLines(factories, params));
  },
  async 'session.factory.journal.get'(params, context) {
    return factoryCall(context, (factories) => readStep(factories, params));
  },
  async 'session.factory.journal.put'(params, context) {
    return factoryCall(context, (factories) => keepStep(factories, params));
  },
  async 'session.factory.agent'({ factoryRunId: runId, executionToken, prompt, opts }, context) {
    return factoryCall(context, async (factories) => ({
      result: await factories.agent(runId, executionToken, agentWish(prompt, opts)),
    }));
  },
};

async function found(factories: Session['factories'], runId: string): Promise<Run> {
  const run = await factories.find(runId);
  if (!run) throw new Refusal(`Factory run ${runId} was not found`);
  return run;
}

/** Most clients of factories know no pause: a run that is paused can go on, as one that was halted can. */
function olderStatus(status: Run['status']) {
  return status === 'paused' ? 'halted' : status;
}

function shown({ runId, status: now, result, error }: Run): Result<Methods['session.factory.getRun']> {
  const status = olderStatus(now);
  return { runId, status, ...(result !== undefined && { result }), ...(error !== undefined && { error }) };
}

function summary({
  runId,
  factoryName,
  description,
  status,
  revision,
  createdAt,
  startedAt,
  updatedAt,
  completedAt,
  agents,
}: Run): Result<Methods['session.factory.listRuns']>['runs'][number] {
  const times = { createdAt, startedAt, updatedAt, completedAt: completedAt ?? null };
  return { runId, factoryName, description, status, revision, ...times, totalSpawnedAgentCount: agents };
}
