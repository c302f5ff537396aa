import { knownModel } from './catalog.js';
import type { AnswerStyle } from './model.js';

/** The wishes that a wire has fields for. */
const fields: Readonly<Partial<Record<string, readonly (keyof AnswerStyle)[]>>> = {
  'openai-chat': ['verbosity'],
  'copilot-chat': ['verbosity'],
  'openai-responses': ['verbosity', 'reasoningSummary'],
  'openai-responses-socket': ['verbosity', 'reasoningSummary'],
};

/** What of a style is sent by a wire; a model that is known not to take a wish is not sent it. */
export function sentStyle(wire: string, model: string, style: AnswerStyle): AnswerStyle {
  const known = knownModel(model);
  const own = Object.hasOwn(fields, wire) ? (fields[wire] ?? []) : [];
  const { verbosity, reasoningSummary } = style;
  const takesVerbosity = own.includes('verbosity') && (!known || known.takesVerbosity === true);
  const thinks = own.includes('reasoningSummary') && (!known || Boolean(known.reasoningEfforts?.length));
  return {
    ...(verbosity !== undefined && takesVerbosity && { verbosity }),
    ...(reasoningSummary !== undefined && thinks && { reasoningSummary }),
  };
}
