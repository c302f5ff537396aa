import {
  createOptions,
  findIneffective,
  providerAddOptions,
  providerUpdateOptions,
  resumeOptions,
  type SupportTable,
  sendOptions,
  switchOptions,
  updateOptions,
} from '@groundcrew/protocol';
import { type Session, warnAtOnce } from '@groundcrew/runtime';
import { refuse } from './failure.js';

/** By method, what becomes of each of its fields. */
export const optionTables = {
  'session.create': createOptions,
  'session.resume': resumeOptions,
  'session.send': sendOptions,
  'session.options.update': updateOptions,
  'session.model.switchTo': switchOptions,
  'session.provider.add': providerAddOptions,
  'session.provider.update': providerUpdateOptions,
} as const satisfies Readonly<Record<string, SupportTable>>;

/** A warning for each option that has no effect; throws when one is refused. */
export function optionWarnings(method: keyof typeof optionTables, params: object): readonly string[] {
  const found = findIneffective({ ...params }, optionTables[method]);
  const refused = found.find(({ isRefused }) => isRefused);
  if (refused) throw refuse(method, refused.message);
  return found.map(({ message }) => message);
}

/** Says in a live session which of these options have no effect; throws when one is refused. */
export async function warnOfOptions(
  session: Session,
  method: keyof typeof optionTables,
  params: object,
): Promise<void> {
  await warnAtOnce(session, optionWarnings(method, params));
}
