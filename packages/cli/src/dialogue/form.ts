import {
  type ElicitationRequest,
  type ElicitationResult,
  type FormChoice,
  type FormField,
  formChoices,
} from '@groundcrew/sdk';
import { visible } from '../terminal/visible.js';

type Values = NonNullable<ElicitationResult['content']>;

/** Asks for a form field by field, or shows a page; the end of the input, or `!`, declines. */
export async function askForm(
  { mode, url, requestedSchema }: ElicitationRequest,
  read: (question: string) => Promise<string | undefined>,
  show: (line: string) => void,
): Promise<ElicitationResult> {
  if (mode === 'url') {
    show(`  ${visible(url ?? '')}`);
    return askConsent('y when you have been there, n no: ', read);
  }
  const { properties = {}, required = [] } = requestedSchema ?? {};
  // A form without fields asks for a yes: nothing is accepted that nobody has seen.
  if (Object.keys(properties).length === 0) return askConsent('y yes, n no: ', read);
  const entered: [string, Values[string]][] = [];
  for (const [name, declared] of Object.entries(properties)) {
    const field = (declared ?? {}) as FormField; // the runtime has checked the form
    const value = await askField(name, { field, isRequired: required.includes(name) }, read);
    if (value === 'declined') return { action: 'decline' };
    if (value !== undefined) entered.push([name, value.entered]);
  }
  return { action: 'accept', content: Object.fromEntries(entered) };
}

async function askConsent(
  question: string,
  read: (question: string) => Promise<string | undefined>,
): Promise<ElicitationResult> {
  const said = await read(question);
  if (said === undefined) return { action: 'cancel' };
  return /^y(?:es)?$/i.test(said) ? { action: 'accept', content: {} } : { action: 'decline' };
}

async function askField(
  name: string,
  { field, isRequired }: { readonly field: FormField; readonly isRequired: boolean },
  read: (question: string) => Promise<string | undefined>,
): Promise<{ readonly entered: Values[string] } | 'declined' | undefined> {
  const choices = formChoices(field);
  const hints = [
    ...(choices ? [choices.map(({ label }) => visible(label)).join(', ')] : [field.type ?? 'text']),
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

/** By its value or by the title that is shown for it; undefined when there is no such choice. */
function chosen(choices: readonly FormChoice[], said: string): string | undefined {
  const isMeant = (text: string) => text.toLowerCase() === said.toLowerCase();
  const found =
    choices.find(({ value }) => value === said) ??
    choices.find(({ value, label }) => isMeant(value) || isMeant(label));
  return found?.value;
}

/** Undefined when it is no such value. */
function readValue(said: string, field: FormField): Values[string] | undefined {
  const choices = formChoices(field);
  switch (field.type) {
    case 'boolean':
      if (/^(?:y|yes|true)$/i.test(said)) return true;
      return /^(?:n|no|false)$/i.test(said) ? false : undefined;
    case 'number':
    case 'integer': {
      const number = Number(said);
      return Number.isFinite(number) && (field.type === 'number' || Number.isInteger(number))
        ? number
        : undefined;
    }
    case 'array': {
      const several = said.split(',').map((each) => chosen(choices ?? [], each.trim()));
      return several.some((each) => each === undefined) ? undefined : (several as string[]);
    }
    default:
      return choices ? chosen(choices, said) : said;
  }
}
