import { errorCodes, type Methods, type ParsedParams, type Result } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import type { Session } from '@groundcrew/runtime';
import { failedText, Refusal } from '../failure.js';
import type { SessionCallContext, SessionHandlers } from '../handler.js';

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
      const { progress, revision } = run;
      const inRange = progress.filter(({ seq }) => seq > afterSeq && seq < beforeSeq);
      const page = afterSeq > 0 ? inRange.slice(0, limit) : inRange.slice(-limit);
      const [oldest, newest] = [page[0]?.seq ?? null, page.at(-1)?.seq ?? null];
      return {
        records: page.map((line) => ({ ...line, phaseId: null })),
        oldestSeq: oldest,
        newestSeq: newest,
        hasMoreOlder: oldest !== null && (progress[0]?.seq ?? oldest) < oldest,
        hasMoreNewer: newest !== null && (progress.at(-1)?.seq ?? newest) > newest,
        revision,
      };
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

/** Factories are there where extensions are; a refusal says by its code what clients go by. */
async function answered<T>(
  method: Names,
  { session, environment }: SessionCallContext,
  act: (factories: Session['factories']) => Promise<T>,
): Promise<T> {
  if (!environment.extensions) {
    throw new RpcError(errorCodes.methodNotFound, 'Agent factories are not available for this session', {
      code: 'agent_factories_unavailable',
    });
  }
  try {
    return await act(session.factories);
  } catch (error) {
    const { name, code, message } = error as Error & { readonly code?: unknown };
    if (name !== 'FactoryRefused' || code === undefined) throw error;
    throw new RpcError(errorCodes.requestFailed, failedText(method, message), { code });
  }
}

function limitsFrom(given: Limits): Parameters<Session['factories']['run']>[2] {
  if (!given) return undefined;
  const { timeoutSeconds, maxTotalSubagents, maxConcurrentSubagents, maxAiCredits } = given;
  if (typeof maxAiCredits === 'number')
    throw new Refusal("'limits.maxAiCredits' is not counted for factories in this version.");
  return {
    ...(typeof timeoutSeconds === 'number' && { timeoutSeconds }),
    ...(typeof maxTotalSubagents === 'number' && { maxTotalSubagents }),
    ...(typeof maxConcurrentSubagents === 'number' && { maxConcurrentSubagents }),
  };
}

type Limits = ParsedParams<Methods['session.factory.resume']>['limits'];

function shown({ runId, status, result, error }: Run): Result<Methods['session.factory.getRun']> {
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
