import { knownModel } from '../../catalog.js';
import type { ModelRequest } from '../../model.js';
import type { AnswerBlock, Effort, MessageParam, MessagesBody, ThoughtBlock } from './schema.js';

/** The thinking budget of a model that needs one stated. */
const budgets: ReadonlyMap<string, number> = new Map([
  ['minimal', 1_024],
  ['low', 4_000],
  ['medium', 8_000],
  ['high', 16_000],
  ['xhigh', 24_000],
  ['max', 24_000],
]);
const smallestBudget = 1_024;

const efforts: ReadonlyMap<string, Effort> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'xhigh'],
  ['max', 'max'],
]);

export type ThinkingFields = Pick<MessagesBody, 'thinking' | 'output_config'>;

/** How the model is asked to think: newer ones by effort, older ones and those of others by a budget. */
export function thinkingFor(
  { model, reasoningEffort }: ModelRequest,
  call: { readonly maxTokens: number; readonly messages: readonly MessageParam[] },
): ThinkingFields {
  if (reasoningEffort === undefined) return {};
  const effort = efforts.get(reasoningEffort);
  if (decidesItself(model))
    return effort === undefined
      ? {}
      : { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } };
  const budget = Math.min(budgets.get(reasoningEffort) ?? 0, Math.floor((call.maxTokens * 3) / 4));
  if (budget < smallestBudget || !mayThinkNow(call.messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** Thoughts of a model that is not to think now are refused; one that decides itself always gets its own back. */
export function wantsThoughtsBack(model: string, { thinking }: ThinkingFields): boolean {
  return thinking !== undefined || decidesItself(model);
}

function decidesItself(model: string): boolean {
  return knownModel(model)?.thinksByItself ?? false;
}

/** A round of tools that began without a thought has to end without one: the service refuses a change of mind. */
function mayThinkNow(messages: readonly MessageParam[]): boolean {
  let first: readonly AnswerBlock[] | undefined;
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') first = message.content;
    else if (!message.content.some((block) => block.type === 'tool_result')) break;
  }
  const begins = first?.[0]?.type;
  return begins === undefined || begins === 'thinking' || begins === 'redacted_thinking';
}

/** The thought, if what was kept is one. */
export function readThought(block: Readonly<Record<string, unknown>>): ThoughtBlock | undefined {
  const { type, thinking, signature, data } = block;
  if (type === 'redacted_thinking' && typeof data === 'string') return { type, data };
  if (type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string')
    return { type, thinking, signature };
  return undefined;
}
