import {
  createOptions,
  findIneffective,
  insertOptions,
  type Methods,
  type ParsedParams,
  providerAddOptions,
  providerUpdateOptions,
  resumeOptions,
  type SupportTable,
  sendMessagesOptions,
  sendOptions,
  switchOptions,
  toolsSetOptions,
  updateOptions,
} from '@groundcrew/protocol';
import { Refusal } from './failure.js';
import { transformsSections } from './settings.js';

/** By method, what becomes of each of its fields. */
const optionTables: Readonly<Record<string, SupportTable>> = {
  'session.create': createOptions,
  'session.resume': resumeOptions,
  'session.queue.insertAt': insertOptions,
  'session.send': sendOptions,
  'session.sendAndWait': sendOptions,
  'session.sendMessages': sendMessagesOptions,
  'session.options.update': updateOptions,
  'session.model.switchTo': switchOptions,
  'session.provider.add': providerAddOptions,
  'session.provider.sync': providerAddOptions,
  'session.tools.set': toolsSetOptions,
  'session.provider.update': providerUpdateOptions,
};

/** A warning for each option that has no effect; throws when one is refused. */
export function optionWarnings(method: string, params: object): readonly string[] {
  const table = optionTables[method];
  if (!table) return [];
  const found = findIneffective({ ...params }, table);
  const refused = found.find(({ isRefused }) => isRefused);
  if (refused) throw new Refusal(refused.message);
  return [...found.map(({ message }) => message), ...hookOptionWarnings(params)];
}

/** How hooks and transforms are asked is nothing without any. */
function hookOptionWarnings(
  params: Pick<ParsedParams<Methods['session.resume']>, 'hooks' | 'hookOptions' | 'systemMessage'>,
): readonly string[] {
  const isUsed = params.hooks || transformsSections(params);
  if (isUsed || Object.keys(params.hookOptions ?? {}).length === 0) return [];
  return ["The option 'hookOptions' has no effect: 'hooks' is not given."];
}
