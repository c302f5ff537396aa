import { type Price, type PriceList, priceList } from '@groundcrew/models';
import type { ModelCallSettings } from './ambient-models.js';

/** What models cost: the user's own prices over the general ones, read when the first call is made. */
export function priceBook(
  settings: () => Promise<ModelCallSettings>,
): (model: string) => Promise<Price | undefined> {
  let reading: Promise<PriceList> | undefined;
  return async (model) => {
    reading ??= settings()
      .catch(noneOfOnesOwn)
      .then(({ prices }) => priceList(prices));
    return (await reading).find(model);
  };
}

/** Settings that cannot be read are reported where a service is chosen; here they set no price. */
const noneOfOnesOwn = (): ModelCallSettings => ({});
