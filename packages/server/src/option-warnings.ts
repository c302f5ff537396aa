import {
  createOptions,
  findIneffective,
  insertOptions,
  type MethodName,
  type Methods,
  methods,
  nearestName,
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
import { optionsWithoutEffect } from './options-without-effect.js';
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
  return [
    ...found.map(({ message }) => message),
    ...hookOptionWarnings(params),
    ...optionsWithoutEffect(params),
  ];
}

/** Names in the parameters of a method that it does not know; those with a table of their own are looked at there. */
export function unknownParameters(method: MethodName, params: object): readonly string[] {
  if (Object.hasOwn(optionTables, method)) return [];
  const known = fieldsOf(method);
  if (!known) return [];
  const unknown = Object.entries(params).filter(
    ([name, value]) =>
      value !== undefined && value !== null && !Object.hasOwn(known, name) && !alwaysSent.has(name),
  );
  return unknown.slice(0, mostNames).map(([name]) => {
    const near = nearestName(name, Object.keys(known));
    const hint = near === undefined ? '' : ` Did you mean '${near}'?`;
    return `The parameter '${oneLine(name)}' of ${method} has no effect: this version does not know it.${hint}`;
  });
}

/** Clients may add these to whatever they call. */
const alwaysSent = new Set(['sessionId', 'traceparent', 'tracestate']);
const mostNames = 10;
const longestName = 64;

function oneLine(name: string): string {
  return name.slice(0, longestName).replace(/[\s\p{Cc}]+/gu, ' ');
}

/** By name; undefined for a method that takes more than one form. */
function fieldsOf(method: MethodName): object | undefined {
  const { def } = methods[method].params()._zod as {
    readonly def: { readonly fields?: object; readonly shape?: object };
  };
  return def.fields ?? def.shape;
}

/** How hooks and transforms are asked is nothing without any. */
function hookOptionWarnings(
  params: Pick<ParsedParams<Methods['session.resume']>, 'hooks' | 'hookOptions' | 'systemMessage'>,
): readonly string[] {
  const isUsed = params.hooks || transformsSections(params);
  if (isUsed || Object.keys(params.hookOptions ?? {}).length === 0) return [];
  return ["The option 'hookOptions' has no effect: 'hooks' is not given."];
}
