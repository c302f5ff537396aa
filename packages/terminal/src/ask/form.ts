import {
  type ElicitationRequest,
  type ElicitationResult,
  type FormField,
  formChoices,
} from '@groundcrew/sdk';
import { askedLines, visibleLines } from '../text/clean.js';
import { type Line, line } from '../text/span.js';
import type { Option, Question } from './question.js';

type Values = NonNullable<ElicitationResult['content']>;
type Value = Values[string];

/** Asks one question; undefined when it is no longer open. */
type Ask = (question: Question) => Promise<unknown>;

const declined = Symbol('declined');
const leftOut = Symbol('left out');

/** A form, field by field, or a page to visit. Each field can be declined, and with it the form. */
export async function askForm(
  request: ElicitationRequest,
  ask: Ask,
  problem?: string,
): Promise<ElicitationResult> {
  const from = request.elicitationSource ? `${request.elicitationSource}: ` : '';
  const refused = problem === undefined ? '' : ` (not taken: ${problem})`;
  const title = askedLines(`${from}${request.message}${refused}`).map((each) => line(each, 'bold'));
  if (request.mode === 'url') return askPage(title, request.url ?? '', ask);
  const { properties = {}, required = [] } = request.requestedSchema ?? {};
  // A form without fields asks for a yes: nothing is accepted that nobody has seen.
  if (Object.keys(properties).length === 0) return askConsent({ body: title, yes: 'Yes' }, ask);
  const entered: [string, Value][] = [];
  for (const [name, declared] of Object.entries(properties)) {
    const field = (declared ?? {}) as FormField; // the runtime has checked the form
    const value = await ask(fieldQuestion(name, field, { title, isRequired: required.includes(name) }));
    if (value === undefined) return { action: 'cancel' };
    if (value === declined) return { action: 'decline' };
    if (value !== leftOut) entered.push([name, value as Value]);
  }
  return { action: 'accept', content: Object.fromEntries(entered) };
}

function askPage(title: readonly Line[], url: string, ask: Ask): Promise<ElicitationResult> {
  const address = visibleLines(url).map((each) => line(`  ${each}`, 'underline'));
  return askConsent({ body: [...title, ...address], yes: 'I have been there' }, ask);
}

async function askConsent(
  { body, yes }: { readonly body: readonly Line[]; readonly yes: string },
  ask: Ask,
): Promise<ElicitationResult> {
  const action = await ask({
    body,
    options: [
      { key: 'y', label: yes, value: 'accept' },
      { key: 'n', label: 'No', value: 'decline' },
    ],
    read: ({ value }) => ({ answer: value }),
  });
  if (action === 'accept') return { action, content: {} };
  return { action: action === 'decline' ? action : 'cancel' };
}

function fieldQuestion(
  name: string,
  field: FormField,
  { title, isRequired }: { readonly title: readonly Line[]; readonly isRequired: boolean },
): Question {
  const label = asked(field.title ?? name);
  const hint = askedLines(field.description ?? '').flatMap((each) =>
    each === '' ? [] : [line(`  ${each}`, 'dim')],
  );
  const skip: readonly Option<unknown>[] = isRequired ? [] : [{ label: 'Leave it out', value: leftOut }];
  const no: Option<unknown> = { label: 'Decline', value: declined };
  const usual = field.default === undefined ? '' : `; ${asked(String(field.default))} unless given`;
  return {
    body: [...title, line(`${label} (${kindOf(field)}${usual})`), ...hint],
    options: [...valuesOf(field), ...skip, no],
    read: ({ value, asksFor }, words) => {
      if (asksFor === undefined) return { answer: value };
      if (words === '' && field.default !== undefined) return { answer: field.default };
      return readValue(words, field);
    },
  };
}

/** What can be chosen; anything else is written. */
function valuesOf(field: FormField): readonly Option<unknown>[] {
  if (field.type === 'boolean')
    return [
      { key: 'y', label: 'Yes', value: true },
      { key: 'n', label: 'No', value: false },
    ];
  const choices = formChoices(field);
  if (choices && field.type !== 'array')
    return choices.map(({ value, label }) => ({ label: asked(label), value }));
  const asksFor = choices
    ? `Some of ${choices.map(({ value }) => asked(value)).join(', ')}, separated by commas`
    : 'Your answer';
  return [{ label: 'Answer', value: undefined, asksFor }];
}

function kindOf(field: FormField): string {
  if (formChoices(field)) return field.type === 'array' ? 'several choices' : 'a choice';
  return field.type ?? 'text';
}

function readValue(
  words: string,
  field: FormField,
): { readonly answer: Value } | { readonly problem: string } {
  switch (field.type) {
    case 'number':
    case 'integer':
      return readNumber(words, field);
    case 'array': {
      const chosen = words.split(',').map((each) => each.trim());
      const known = formChoices(field)?.map(({ value }) => value);
      const wrong = chosen.find((each) => known && !known.includes(each));
      return wrong === undefined ? { answer: chosen } : { problem: `${wrong} is none of the choices` };
    }
    default:
      if (words.length < (field.minLength ?? 0))
        return { problem: `At least ${field.minLength} characters are needed` };
      if (words.length > (field.maxLength ?? Number.POSITIVE_INFINITY))
        return { problem: `At most ${field.maxLength} characters are possible` };
      return { answer: words };
  }
}

function readNumber(
  words: string,
  { type, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: FormField,
): { readonly answer: number } | { readonly problem: string } {
  const number = words === '' ? Number.NaN : Number(words);
  if (!Number.isFinite(number)) return { problem: 'This is no number' };
  if (type === 'integer' && !Number.isInteger(number)) return { problem: 'This is no whole number' };
  if (number < minimum || number > maximum) return { problem: `It must be from ${minimum} to ${maximum}` };
  return { answer: number };
}

function asked(text: string): string {
  return askedLines(text).join(' ');
}
