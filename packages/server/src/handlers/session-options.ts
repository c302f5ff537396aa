import { isDeepStrictEqual } from 'node:util';
import type { Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';
import { giveTokens, tokenProvidersOf } from '../provider-settings.js';
import { limitsChange, limitsFrom } from '../session-limits.js';
import { settingsFrom } from '../settings.js';
import { contextIn } from '../working-directory.js';

export const sessionOptionsHandlers: SessionHandlers<Pick<Methods, 'session.options.update'>> = {
  async 'session.options.update'(params, context) {
    const { enableStreaming, sessionLimits, ...changes } = params;
    const { session } = context;
    const warnings = context.optionWarnings();
    const reason = params.model
      ? session.tools.planner.refusalOf(params.model, await session.state())
      : undefined;
    if (reason !== undefined) throw new Refusal(reason);
    const moved =
      changes.workingDirectory === undefined ? undefined : await contextIn(session, changes.workingDirectory);
    const patch = {
      ...changes,
      ...(enableStreaming !== undefined && { streaming: enableStreaming }),
      ...(moved && { workingDirectory: moved.cwd }),
    };
    await context.runtime.change(session, (now) => settingsFrom(patch, now, now.workingDirectory));
    giveTokens(session, context.client.id, tokenProvidersOf(changes));
    const { model, reasoningEffort } = changes;
    const state = await session.state();
    if (moved && !isDeepStrictEqual(moved, state.context))
      await session.record({ type: 'session.context_changed', data: moved });
    const newModel = model || state.model || (await context.runtime.models(session)).defaultModel;
    const isOther = newModel !== state.model && Boolean(model);
    const thinksOtherwise = reasoningEffort !== undefined && reasoningEffort !== state.reasoningEffort;
    if (isOther || thinksOtherwise) {
      await session.record({
        type: 'session.model_change',
        data: { newModel, source: 'sdk', ...(reasoningEffort !== undefined && { reasoningEffort }) },
      });
    }
    const limits = limitsFrom(sessionLimits);
    if (limits) await session.record({ type: 'session.session_limits_changed', data: limitsChange(limits) });
    await session.tools.warn([...warnings, ...session.tools.planner.filterWarnings()]);
    return { success: true };
  },
};
