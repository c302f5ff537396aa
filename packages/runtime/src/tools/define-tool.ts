import { type Fields, type Input, parseInput, schemaOf } from './fields.js';
import { type CallPreview, type PreparedCall, type Tool, type ToolContext, ToolInputError } from './tool.js';

/** A built-in tool as its file describes it. */
export interface ToolDefinition<F extends Fields> {
  readonly name: string;
  readonly description: string;
  readonly fields: F;
  /** May run again after a crash that left it unknown whether it had run. */
  readonly isRepeatable?: boolean;
  /** Its calls change nothing outside the session: they may run in plan mode. */
  readonly changesNothing?: boolean;
  /** No call of it ever needs a permission. */
  readonly isFree?: boolean;
  /** What the call is about, in a few words for users. */
  intention?(input: Input<F>): string | undefined;
  /** What clients receive about a call besides its arguments, when it begins. */
  preview?(input: Input<F>): Promise<CallPreview>;
  /** Checks what must hold before a user is asked; throws ToolFailure. */
  prepare(input: Input<F>, context: ToolContext): PreparedCall | Promise<PreparedCall>;
}

/** Makes a tool whose `prepare` only ever sees input that fits its fields. */
export function defineTool<const F extends Fields>(definition: ToolDefinition<F>): Tool {
  const {
    name,
    description,
    fields,
    isRepeatable = false,
    changesNothing = false,
    isFree = false,
  } = definition;
  return {
    name,
    description,
    inputSchema: schemaOf(fields),
    source: 'builtin',
    isRepeatable,
    changesNothing,
    isFree,
    intention: (input) => ifItFits(fields, input, (parsed) => definition.intention?.(parsed)),
    ...(definition.preview && {
      preview: async (input) =>
        (await ifItFits(fields, input, (parsed) => definition.preview?.(parsed))) ?? {},
    }),
    prepare: (input, context) => definition.prepare(parseInput(fields, input), context),
  };
}

/** Input that does not fit is reported when the call is prepared. */
function ifItFits<F extends Fields, T>(
  fields: F,
  input: unknown,
  describe: (parsed: Input<F>) => T | undefined,
): T | undefined {
  try {
    return describe(parseInput(fields, input));
  } catch (error) {
    if (error instanceof ToolInputError) return undefined;
    throw error;
  }
}
