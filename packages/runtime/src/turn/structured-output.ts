import type { AnswerFormat } from '../log/state.js';
import type { AgentContext } from './agent-context.js';
import { deliver } from './deliver.js';
import type { Schema } from './output-schema.js';

/** How often a model is asked again for an answer that fits. */
const mostRepairs = 2;

/** The model gave no answer of the form that the prompt asks for. */
export class OutputInvalid extends Error {
  override readonly name = 'OutputInvalid';

  constructor(
    reason: string,
    /** The model's last answer. */
    readonly lastText: string,
  ) {
    super(`The model gave no answer that fits the schema: ${reason}`);
  }
}

/** What the model reads with every call while an answer of a form is wanted; services that take no form hold to it. */
export function outputRemark({ schema }: AnswerFormat): string {
  return `<system_reminder>\nWhen you give your final answer to the user's request, answer with one JSON value that fits this JSON Schema, and with nothing else: no words around it, no code fence. You may call tools before.\n${JSON.stringify(schema)}\n</system_reminder>`;
}

/** An answer that fits, or why it does not. */
type Reading = { readonly value: unknown } | { readonly misfit: string };

/**
 * Looks at the answer to a prompt that wants one of a form. `repaired`: the model has been asked again. Throws
 * OutputInvalid when it cannot be had.
 */
export async function checkOutput(
  context: AgentContext,
  signal: AbortSignal,
): Promise<'settled' | 'repaired' | 'not wanted'> {
  const { log, session } = context;
  const { output } = log.latest;
  if (!output) return 'not wanted';
  const reading = await readingOf(context, signal);
  if ('value' in reading) {
    settle(context, output, reading.value);
    return 'settled';
  }
  const { text } = lastAnswer(context);
  if (output.repairs >= mostRepairs || text === undefined)
    throw new OutputInvalid(reading.misfit, text ?? '');
  const prompt = {
    messageId: session.clock.newId(),
    text: `Your answer does not fit the JSON Schema: ${reading.misfit}. Answer again with the JSON value alone.`,
    mode: 'enqueue',
    source: 'structured-output',
    output: { ...output, repairs: output.repairs + 1 },
    ...(log.session.promptMode && { agentMode: log.session.promptMode }),
  } as const;
  await deliver(prompt, { delivery: 'queued', signal }, context);
  return 'repaired';
}

/** Writes what the answer came to; the prompt wants nothing more. */
function settle({ log, interaction }: AgentContext, { name, repairs }: AnswerFormat, value: unknown): void {
  log.append(
    { note: 'output.settled', data: {} },
    { type: 'assistant.output', data: { interactionId: interaction.id, name, value, repairs } },
  );
}

async function readingOf(context: AgentContext, signal: AbortSignal): Promise<Reading> {
  const { output } = context.log.latest;
  const { text } = lastAnswer(context);
  if (!output || text === undefined) return { misfit: 'there is no answer' };
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(text));
  } catch (error) {
    return { misfit: `it is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const misfit = await misfitIn(value, output.schema, context, signal);
  return misfit === undefined ? { value } : { misfit };
}

/** Schemas come from clients, answers from models: what is not checked at once is checked outside of this thread. */
async function misfitIn(
  value: unknown,
  schema: Schema,
  { session }: AgentContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { LongCheck, misfitOf } = await import('./output-schema.js');
  try {
    return misfitOf(value, schema, stepsAtOnce);
  } catch (error) {
    if (!(error instanceof LongCheck)) throw error;
  }
  try {
    return (await session.jobs().run('fit', { value, schema }, { milliseconds: checkMs }, signal)).misfit;
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new OutputInvalid(`it could not be checked: ${reason}`, JSON.stringify(value));
  }
}

/** About a millisecond of them. */
const stepsAtOnce = 5_000;
const checkMs = 2_000;

function lastAnswer({ log }: AgentContext): { readonly text?: string } {
  const last = log.latest.history.findLast((entry) => entry.role === 'assistant');
  return last?.role === 'assistant' && last.toolCalls.length === 0 ? { text: last.text } : {};
}

/** Many models cannot do without a fence. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  const end = trimmed.indexOf('\n');
  const isFenced =
    end > 0 && /^```\w*\s*$/.test(trimmed.slice(0, Math.min(end, 40))) && trimmed.endsWith('```');
  return isFenced ? trimmed.slice(end + 1, -3) : trimmed;
}
