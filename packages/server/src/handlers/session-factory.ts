import type { Methods, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { factoryCall as answered, factoryLimits as limitsFrom, progressPage } from '../factory-calls.js';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.factory.${string}`>;
type Run = NonNullable<Awaited<ReturnType<Session['factories']['find']>>>;

export const sessionFactoryHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.factory.run'({ name, args, options }, context) {
    return answered('session.factory.run', context, async (factories) =>
      shown(await factories.run(name, args, limitsFrom(options?.limits))),
    );
  },
  async 'session.factory.resume'({ runId, limits }, context) {
    return answered('session.factory.resume', context, async (factories) => {
      const run = await factories.resume(runId, limitsFrom(limits));
      return { factoryName: run.factoryName, run: shown(run) };
    });
  },
  async 'session.factory.getRun'({ runId }, context) {
    return answered('session.factory.getRun', context, async (factories) => {
      const run = await factories.find(runId);
      if (!run) throw new Refusal(`Factory run ${runId} was not found`);
      return shown(run);
    });
  },
  async 'session.factory.listRuns'(_params, context) {
    return answered('session.factory.listRuns', context, async (factories) => ({
      runs: (await factories.list()).map(summary),
    }));
  },
  async 'session.factory.getRunProgress'(
    { runId, afterSeq = 0, beforeSeq = Infinity, limit = 100 },
    context,
  ) {
    return answered('session.factory.getRunProgress', context, async (factories) => {
      const run = await factories.find(runId);
      if (!run) throw new Refusal(`Factory run ${runId} was not found`);
      return progressPage(run, { afterSeq, beforeSeq, limit });
    });
  },
  async 'session.factory.cancel'({ runId }, context) {
    return answered('session.factory.cancel', context, async (factories) =>
      shown(await factories.cancel(runId)),
    );
  },
  async 'session.factory.log'({ runId, executionToken, lines }, context) {
    return answered('session.factory.log', context, async (factories) => {
      await factories.log(runId, executionToken, lines);
      return {};
    });
  },
  async 'session.factory.journal.get'({ runId, executionToken, key }, context) {
    return answered('session.factory.journal.get', context, async (factories) => {
      const known = await factories.recalled(runId, executionToken, key);
      return known ? { hit: true, resultJson: known.value } : { hit: false };
    });
  },
  async 'session.factory.journal.put'({ runId, executionToken, key, resultJson }, context) {
    return answered('session.factory.journal.put', context, async (factories) => {
      await factories.remember(runId, executionToken, { key, value: resultJson });
      return {};
    });
  },
  async 'session.factory.agent'({ factoryRunId, executionToken, prompt, opts = {} }, context) {
    return answered('session.factory.agent', context, async (factories) => {
      const { label, schema, model, agent = 'general-purpose', reasoningEffort, contextTier } = opts;
      for (const [name, value] of Object.entries({ schema, reasoningEffort, contextTier }))
        if (value !== undefined)
          throw new Refusal(`Sub-agents of factories take no '${name}' in this version.`);
      const wish = { prompt, agentType: agent, name: label ?? agent, ...(model !== undefined && { model }) };
      return { result: await factories.agent(factoryRunId, executionToken, wish) };
    });
  },
};

/** Clients of factories know no pause: a run that is paused can go on, as one that was halted can. */
function shown({ runId, status: now, result, error }: Run): Result<Methods['session.factory.getRun']> {
  const status = now === 'paused' ? 'halted' : now;
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
