import { offlineInfo, offlineModel, type ThinkElsewhere } from '@groundcrew/offline-model';
import type { ModelAccess } from '@groundcrew/runtime';

/** What answers when nothing is configured: no key, no network, no weights. */
export function offlineAccess(thinkElsewhere?: ThinkElsewhere): ModelAccess {
  return {
    provider: offlineModel(thinkElsewhere),
    defaultModel: offlineInfo.id,
    info: () => offlineInfo,
    isCopilot: false,
    titles: () => false,
    standsInFor: (model) => model !== offlineInfo.id && model !== 'auto',
  };
}
