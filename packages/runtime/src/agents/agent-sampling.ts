import { type SamplingParts, sample } from '../mcp/sampling.js';
import type { AgentContext } from '../turn/agent-context.js';

/** An MCP server asks the model of an agent. */
export function sampleFor(
  { gate, models, planner, log }: AgentContext,
  { serverName, params }: { readonly serverName: string; readonly params: Parameters<typeof sample>[1] },
  signal: AbortSignal,
): ReturnType<typeof sample> {
  const parts: SamplingParts = {
    models,
    plan: () => planner.plan(),
    permit: (request, asked) => gate.permit(request, asked),
    append: (...drafts) => void log.append(...drafts),
  };
  return sample(serverName, params, parts, signal);
}
