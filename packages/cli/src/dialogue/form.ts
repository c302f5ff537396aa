import type { ElicitationRequest, ElicitationResult } from '@groundcrew/sdk';
import { visible } from '../terminal/visible.js';

type Values = NonNullable<ElicitationResult['content']>;

interface Field {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { readonly const: string }[];
  readonly items?: {
    readonly enum?: readonly string[];
    readonly anyOf?: readonly { readonly const: string }[];
  };
}

/** Asks for a form field by field, or shows a page; the end of the input, or `!`, declines. */
export async function askForm(
  { mode, url, requestedSchema }: ElicitationRequest,
  read: (question: string) => Promise<string | undefined>,
  show: (line: string) => void,
): Promise<ElicitationResult> {
  if (mode === 'url') {
    show(`  ${visible(url ?? '')}`);
    const said = await read('y when you have been there, n no: ');
    if (said === undefined) return { action: 'cancel' };
    return { action: /^y(?:es)?$/i.test(said) ? 'accept' : 'decline' };
  }
  const { properties = {}, required = [] } = requestedSchema ?? {};
  const entered: [string, Values[string]][] = [];
  for (const [name, declared] of Object.entries(properties)) {
    const field = (declared ?? {}) as Field; // the runtime has checked the form
    const value = await askField(name, { field, isRequired: required.includes(name) }, read);
    if (value === 'declined') return { action: 'decline' };
    if (value !== undefined) entered.push([name, value.entered]);
  }
  return { action: 'accept', content: Object.fromEntries(entered) };
}

async function askField(
  name: string,
  { field, isRequired }: { readonly field: Field; readonly isRequired: boolean },
  read: (question: string) => Promise<string | undefined>,
): Promise<{ readonly entered: Values[string] } | 'declined' | undefined> {
  const choices = choicesOf(field);
  const hints = [
    ...(choices ? [choices.map(visible).join(', ')] : [field.type ?? 'text']),
    ...(field.default === undefined ? [] : [`${visible(String(field.default))} unless given`]),
    ...(isRequired ? [] : ['may be left out']),
  ];
  for (;;) {
    const said = await read(`${visible(field.title ?? name)} (${hints.join('; ')}), ! to decline: `);
    if (said === undefined || said === '!') return 'declined';
    if (said === '') {
      if (!isRequired || field.default !== undefined) return undefined;
      continue;
    }
    const entered = readValue(said, field);
    if (entered !== undefined) return { entered };
  }
}

function choicesOf({ enum: listed, oneOf, items }: Field): readonly string[] | undefined {
  return listed ?? oneOf?.map((each) => each.const) ?? items?.enum ?? items?.anyOf?.map((each) => each.const);
}

/** Undefined when it is no such value. */
function readValue(said: string, { type }: Field): Values[string] | undefined {
  switch (type) {
    case 'boolean':
      if (/^(?:y|yes|true)$/i.test(said)) return true;
      return /^(?:n|no|false)$/i.test(said) ? false : undefined;
    case 'number':
    case 'integer': {
      const number = Number(said);
      return Number.isFinite(number) && (type === 'number' || Number.isInteger(number)) ? number : undefined;
    }
    case 'array':
      return said.split(',').map((each) => each.trim());
    default:
      return said;
  }
}
