import { type EventData, isObject } from '@groundcrew/protocol';
import { formats } from './formats.js';

/** The fields of a form: a flat object of simple values. */
export type FormSchema = NonNullable<EventData<'elicitation.requested'>['requestedSchema']>;

/** What was entered, by field. */
export type FormContent = Readonly<Record<string, unknown>>;

/** A form that cannot be shown, or an answer that does not fit it; names the field. */
export class UnfitForm extends Error {
  override readonly name = 'UnfitForm';

  constructor(
    readonly path: string,
    readonly problem: string,
  ) {
    super(`${path}: ${problem}`);
  }
}

/** Throws UnfitForm for a schema that has other than strings, numbers, booleans and choices of strings. */
export function checkForm(schema: FormSchema): void {
  const fields = Object.entries(schema.properties);
  if (fields.length > mostFields)
    throw new UnfitForm('requestedSchema.properties', `has more than ${mostFields} fields`);
  for (const [name, field] of fields) {
    const path = `requestedSchema.properties.${name}`;
    const known = readField(field, path);
    if (known.default !== undefined) requireFit(known, known.default, `${path}.default`);
  }
  for (const name of schema.required ?? [])
    if (!Object.hasOwn(schema.properties, name))
      throw new UnfitForm('requestedSchema.required', `names ${JSON.stringify(name)}, which is no field`);
}

/** What was entered, with defaults where nothing was; throws UnfitForm with the path of what does not fit. */
export function fittingContent(schema: FormSchema, given: FormContent = {}): FormContent {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(schema.properties, name))
      throw new UnfitForm(`content.${name}`, 'is no field of the form');
  const content: [string, unknown][] = [];
  for (const [name, declared] of Object.entries(schema.properties)) {
    const path = `content.${name}`;
    const field = readField(declared, path);
    const value = (Object.hasOwn(given, name) ? given[name] : undefined) ?? field.default;
    if (value !== undefined) {
      requireFit(field, value, path);
      content.push([name, value]);
    } else if (schema.required?.includes(name)) throw new UnfitForm(path, 'is required');
  }
  // Names of fields come from outside: `__proto__` is one like any other.
  return Object.fromEntries(content);
}

/** No user fills in more. */
const mostFields = 100;

interface Field {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  readonly default?: unknown;
  /** The values there are to choose from. */
  readonly choices?: readonly string[];
  readonly format?: unknown;
  /** Characters of a string, the number itself, or how many are chosen. */
  readonly least?: unknown;
  readonly most?: unknown;
}

function readField(declared: unknown, path: string): Field {
  const field = record(declared);
  if (!field) throw new UnfitForm(path, 'is no schema');
  const { default: initial } = field;
  const standard = initial === undefined || initial === null ? {} : { default: initial };
  switch (field.type) {
    case 'string': {
      const choices = choicesOf(field, path);
      const bounds = { least: field.minLength, most: field.maxLength, format: field.format };
      return { type: 'string', ...standard, ...(choices ? { choices } : bounds) };
    }
    case 'number':
    case 'integer':
      return { type: field.type, ...standard, least: field.minimum, most: field.maximum };
    case 'boolean':
      return { type: 'boolean', ...standard };
    case 'array': {
      const choices = choicesOf(record(field.items) ?? {}, `${path}.items`);
      if (!choices) throw new UnfitForm(`${path}.items`, 'must list what there is to choose from');
      return { type: 'array', ...standard, choices, least: field.minItems, most: field.maxItems };
    }
    default:
      throw new UnfitForm(path, 'must be of type string, number, integer, boolean, or array of choices');
  }
}

/** `enum`, or `oneOf`/`anyOf` of constants with titles. */
function choicesOf(field: Readonly<Record<string, unknown>>, path: string): readonly string[] | undefined {
  const titled = field.oneOf ?? field.anyOf;
  const listed = Array.isArray(titled) ? titled.map((each) => record(each)?.const) : field.enum;
  if (listed === undefined || listed === null) return undefined;
  const isFit =
    Array.isArray(listed) && listed.length > 0 && listed.every((each) => typeof each === 'string');
  if (!isFit) throw new UnfitForm(path, 'must list choices that are strings');
  return listed as readonly string[];
}

function requireFit(field: Field, value: unknown, path: string): void {
  const problem = problemOf(field, value);
  if (problem !== undefined) throw new UnfitForm(path, problem);
}

function problemOf(field: Field, value: unknown): string | undefined {
  switch (field.type) {
    case 'string':
      return typeof value === 'string' ? problemOfText(field, value) : 'must be a string';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'integer':
      if (!Number.isSafeInteger(value)) return 'must be an integer';
      return outOfBounds(field, value as number, '');
    case 'number':
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
      return outOfBounds(field, value, '');
    case 'array':
      return problemOfChoices(field, value);
  }
}

function problemOfText(field: Field, value: string): string | undefined {
  const { choices, format } = field;
  if (choices) return choices.includes(value) ? undefined : `must be one of ${listed(choices)}`;
  // Characters are counted as users count them.
  const bounds = outOfBounds(field, [...value].length, ' characters');
  if (bounds !== undefined) return bounds;
  const isFit = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
  return isFit && !isFit(value) ? `must be a valid ${format}` : undefined;
}

function problemOfChoices({ choices = [], ...field }: Field, value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be a list';
  const known: ReadonlySet<unknown> = new Set(choices);
  if (value.some((each) => !known.has(each))) return `must have only ${listed(choices)}`;
  if (new Set(value).size < value.length) return 'must have each choice once';
  return outOfBounds(field, value.length, ' choices');
}

function outOfBounds(
  { least, most }: Pick<Field, 'least' | 'most'>,
  size: number,
  unit: string,
): string | undefined {
  if (typeof least === 'number' && size < least) return `must be at least ${least}${unit}`;
  if (typeof most === 'number' && size > most) return `must be at most ${most}${unit}`;
  return undefined;
}

function listed(choices: readonly string[]): string {
  const shown = choices.slice(0, 20).map((choice) => JSON.stringify(choice));
  return shown.join(', ') + (choices.length > shown.length ? ', …' : '');
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined;
}
