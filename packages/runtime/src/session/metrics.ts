import type { Usage } from '@groundcrew/models';

interface ModelMetrics {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
}

/** What this process has spent on a session: counted, never guessed. */
export class Metrics {
  apiMilliseconds = 0;
  lastCall = { inputTokens: 0, outputTokens: 0 };
  private readonly byModel = new Map<string, ModelMetrics>();

  count(call: { readonly model: string; readonly usage: Usage; readonly milliseconds: number }): void {
    const { model, usage } = call;
    const sum = this.byModel.get(model) ?? empty();
    this.byModel.set(model, {
      requests: sum.requests + 1,
      inputTokens: sum.inputTokens + usage.inputTokens,
      outputTokens: sum.outputTokens + usage.outputTokens,
      cacheReadTokens: sum.cacheReadTokens + usage.cacheReadTokens,
      cacheWriteTokens: sum.cacheWriteTokens + usage.cacheWriteTokens,
      reasoningTokens: sum.reasoningTokens + usage.reasoningTokens,
    });
    this.apiMilliseconds += call.milliseconds;
    this.lastCall = { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
  }

  /** In the shape that `session.shutdown` and `session.usage.getMetrics` report. */
  perModel(): Record<string, { requests: { count: number }; usage: Omit<ModelMetrics, 'requests'> }> {
    const entries = [...this.byModel].map(
      ([model, { requests, ...usage }]) => [model, { requests: { count: requests }, usage }] as const,
    );
    return Object.fromEntries(entries);
  }
}

function empty(): ModelMetrics {
  return {
    requests: 0,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
}
