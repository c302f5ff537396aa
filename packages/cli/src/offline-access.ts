import { type ModelInfo, offlineModel, type ThinkElsewhere } from '@groundcrew/models';
import type { ModelAccess } from '@groundcrew/runtime';

/** What answers when nothing is configured: no key, no network, no weights. */
export function offlineAccess(thinkElsewhere?: ThinkElsewhere): ModelAccess {
  return {
    provider: offlineModel(thinkElsewhere),
    defaultModel: offlineInfo.id,
    info: () => offlineInfo,
    isCopilot: false,
    standsInFor: (model) => model !== offlineInfo.id && model !== 'auto',
  };
}

/** The model that is always there. */
export const offlineInfo: ModelInfo = {
  id: 'offline',
  name: 'Offline model (embedded)',
  vision: false,
  contextWindow: 32_768,
};
