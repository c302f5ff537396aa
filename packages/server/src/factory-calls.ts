import { errorCodes, type Methods, type ParsedParams } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import type { Session } from '@groundcrew/runtime';
import { failedText, Refusal } from './failure.js';
import type { SessionCallContext } from './handler.js';

/** A run of a factory or workflow. */
export type Run = NonNullable<Awaited<ReturnType<Session['factories']['find']>>>;

/** Factories are there where extensions are; a refusal says by its code what clients go by. */
export async function factoryCall<T>(
  method: keyof Methods,
  { session, environment }: SessionCallContext,
  act: (factories: Session['factories']) => Promise<T>,
): Promise<T> {
  if (!environment.extensions) {
    const [what, code] = method.startsWith('session.workflow.')
      ? ['Workflows', 'workflows_unavailable']
      : ['Agent factories', 'agent_factories_unavailable'];
    throw new RpcError(errorCodes.methodNotFound, `${what} are not available for this session`, { code });
  }
  try {
    return await act(session.factories);
  } catch (error) {
    const { name, code, message } = error as Error & { readonly code?: unknown };
    if (name !== 'FactoryRefused' || code === undefined) throw error;
    throw new RpcError(errorCodes.requestFailed, failedText(method, message), { code });
  }
}

/** What a run may take, as its client says it. Throws Refusal for what is not counted. */
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
