export type { ModelSettings } from './ambient-models.js';
export { ModelDirectory } from './model-directory.js';
export { priceBook } from './price-book.js';
export {
  BadModelSettings,
  type ChosenProvider,
  chooseProvider,
  isCopilotConfigured,
  type ProviderWay,
  providerWays,
} from './provider-choice.js';
