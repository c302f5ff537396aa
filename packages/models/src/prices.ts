import type { Usage } from './model.js';

/** US dollars for a million tokens of each sort; what has no price of its own costs what `input` does. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Longer prompts have another price, which is not known here. */
  readonly maxPrompt?: number;
}

/** What models cost, as far as it is known. */
export interface PriceList {
  /** The day on which the general prices were looked up. */
  readonly asOf: string;
  /** Undefined for a model whose price is not known: none is made up from one that is called alike. */
  find(model: string): Price | undefined;
}

type Prices = Readonly<Record<string, Partial<Price>>>;

/** The prices of the data file, and over them the user's own. The file is loaded by the first who asks. */
export async function priceList(own: Prices = {}): Promise<PriceList> {
  const { asOf, models } = (await import('./prices.json', { with: { type: 'json' } })).default;
  const general: Prices = models;
  return {
    asOf,
    find(model) {
      const known = namesOf(model)
        .map((name) => ownPrice(general, name))
        .find((price) => price !== undefined);
      const { input, output, ...rest } = { ...known, ...ownPrice(own, model) };
      return input === undefined || output === undefined ? undefined : { input, output, ...rest };
    },
  };
}

/** A model may have any name, also one that every object knows. */
function ownPrice(prices: Prices, model: string): Partial<Price> | undefined {
  return Object.hasOwn(prices, model) ? prices[model] : undefined;
}

/** US dollars for one call, as the service states it where it does; null where it is unknown. */
export function costOf(usage: Usage, price: Price | undefined): number | null {
  if (usage.billed !== undefined) return usage.billed;
  if (!price || usage.inputTokens > (price.maxPrompt ?? Number.POSITIVE_INFINITY)) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const millionths =
    fresh * price.input +
    cacheReadTokens * (price.cacheRead ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return millionths / 1_000_000;
}

/** A model is also known by the day it came out, and its version is written with dots or dashes. */
function namesOf(model: string): readonly string[] {
  const name = model.toLowerCase();
  const plain = name.replace(/-(?:latest|20\d{6}|20\d\d-\d\d-\d\d)$/, '');
  return [name, plain, plain.replaceAll('.', '-')];
}
