import { errorCodes, type Methods, type ParsedParams, type Result } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import type { Session } from '@groundcrew/runtime';
import { CodedRefusal, Refusal } from './failure.js';
import type { SessionCallContext } from './handler.js';

/** A run of a factory or workflow. */
export type Run = NonNullable<Awaited<ReturnType<Session['factories']['find']>>>;

type Factories = Session['factories'];

/** Serves a request about a factory. */
export function factoryCall<T>(
  context: SessionCallContext,
  act: (factories: Factories) => Promise<T>,
): Promise<T> {
  return call(context, act, { what: 'Agent factories', code: 'agent_factories_unavailable' });
}

/** The same for clients that call factories workflows. */
export function workflowCall<T>(
  context: SessionCallContext,
  act: (factories: Factories) => Promise<T>,
): Promise<T> {
  return call(context, act, { what: 'Workflows', code: 'workflows_unavailable' });
}

/** Factories are there where extensions are; a refusal says by its code what clients go by. */
async function call<T>(
  { session, environment }: SessionCallContext,
  act: (factories: Factories) => Promise<T>,
  { what, code: unavailable }: { readonly what: string; readonly code: string },
): Promise<T> {
  if (!environment.extensions)
    throw new RpcError(errorCodes.methodNotFound, `${what} are not available for this session`, {
      code: unavailable,
    });
  try {
    return await act(session.factories);
  } catch (error) {
    const { name, code, message } = error as Error & { readonly code?: unknown };
    if (name !== 'FactoryRefused' || typeof code !== 'string') throw error;
    throw new CodedRefusal(message, code);
  }
}

/** Lines of a body's progress. */
export async function addLines(
  factories: Factories,
  { runId, executionToken, lines }: ParsedParams<Methods['session.factory.log']>,
): Promise<Result<Methods['session.factory.log']>> {
  await factories.log(runId, executionToken, lines);
  return {};
}

/** What a step yielded, if it was done. */
export async function readStep(
  factories: Factories,
  { runId, executionToken, key }: ParsedParams<Methods['session.factory.journal.get']>,
): Promise<Result<Methods['session.factory.journal.get']>> {
  const known = await factories.recalled(runId, executionToken, key);
  return known ? { hit: true, resultJson: known.value } : { hit: false };
}

/** Keeps what a step yielded. */
export async function keepStep(
  factories: Factories,
  { runId, executionToken, key, resultJson }: ParsedParams<Methods['session.factory.journal.put']>,
): Promise<Result<Methods['session.factory.journal.put']>> {
  await factories.remember(runId, executionToken, { key, value: resultJson });
  return {};
}

/** The sub-agent that a body asks for. Throws Refusal for what has no effect; `owners` are named in it. */
export function agentWish(
  prompt: string,
  opts: ParsedParams<Methods['session.factory.agent']>['opts'] = {},
  owners: 'factories' | 'workflows' = 'factories',
): Parameters<Factories['agent']>[2] {
  const { label, schema, model, agent = 'general-purpose', reasoningEffort, contextTier } = opts;
  for (const [name, value] of Object.entries({ schema, reasoningEffort, contextTier }))
    if (value !== undefined) throw new Refusal(`Sub-agents of ${owners} take no '${name}' in this version.`);
  return { prompt, agentType: agent, name: label ?? agent, ...(model !== undefined && { model }) };
}

/** The limits of a run as its client sets them. Throws Refusal for one that is not counted. */
export function factoryLimits(given: Limits): Parameters<Session['factories']['run']>[2] {
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

/** A page of what a body wrote, each line with the phase it was written in. */
export function progressPage(
  { progress, revision }: Run,
  how: {
    readonly phaseId?: string | undefined;
    readonly afterSeq: number;
    readonly beforeSeq: number;
    readonly limit: number;
  },
) {
  const lines = withPhases(progress).filter(
    ({ phaseId }) => how.phaseId === undefined || phaseId === how.phaseId,
  );
  const inRange = lines.filter(({ seq }) => seq > how.afterSeq && seq < how.beforeSeq);
  const page = how.afterSeq > 0 ? inRange.slice(0, how.limit) : inRange.slice(-how.limit);
  const [oldest, newest] = [page[0]?.seq ?? null, page.at(-1)?.seq ?? null];
  return {
    records: page,
    oldestSeq: oldest,
    newestSeq: newest,
    hasMoreOlder: oldest !== null && (lines[0]?.seq ?? oldest) < oldest,
    hasMoreNewer: newest !== null && (lines.at(-1)?.seq ?? newest) > newest,
    revision,
  };
}

/** A phase goes by its title: entered again, it is the same. */
export function withPhases(progress: Run['progress']) {
  let phaseId: string | null = null;
  return progress.map((line) => {
    if (line.kind === 'phase') phaseId = line.text;
    return { ...line, phaseId };
  });
}
