import { type EventData, type FormField, formChoices } from '@groundcrew/sdk/browser';
import { useId, useState } from 'preact/hooks';
import { visible } from './format.js';

type Value = string | number | boolean | string[];

/** What users made of a form. */
export interface Filled {
  readonly action: 'accept' | 'decline';
  readonly content?: Record<string, Value>;
}

/** A form, or a page to visit. */
export function Form({
  asked,
  respond,
}: {
  readonly asked: EventData<'elicitation.requested'>;
  respond(filled: Filled): void;
}) {
  const { message, mode, url, elicitationSource, requestedSchema } = asked;
  const { properties = {}, required = [] } = requestedSchema ?? {};
  // The runtime has checked the form.
  const fields = Object.entries(properties as Readonly<Record<string, FormField>>);
  const [problem, setProblem] = useState('');
  const id = useId();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const content = fields.map(
      ([name, field], index) => [name, valueIn(field, given.getAll(`${id}-${index}`))] as const,
    );
    const missing = content.find(([name, value]) => required.includes(name) && isNothing(value));
    setProblem(
      missing ? `${labelOf(...(fields.find(([name]) => name === missing[0]) ?? ['', {}]))} is needed` : '',
    );
    if (missing) return;
    const filled = content.filter((entry): entry is readonly [string, Value] => !isNothing(entry[1]));
    respond({ action: 'accept', ...(mode !== 'url' && { content: Object.fromEntries(filled) }) });
  };
  return (
    <form onSubmit={submit} noValidate={false}>
      <strong>
        {elicitationSource ? `${visible(elicitationSource)}: ` : ''}
        {visible(message)}
      </strong>
      {mode === 'url' && <PageToVisit url={url ?? ''} />}
      {fields.map(([name, field], index) => (
        <FieldRow
          key={name}
          id={`${id}-${index}`}
          label={labelOf(name, field)}
          field={field}
          isRequired={required.includes(name)}
        />
      ))}
      {problem !== '' && <p role="alert">{problem}</p>}
      <div class="bar">
        <button type="submit" class="good">
          {mode === 'url' ? 'I have been there' : 'Send'}
        </button>
        <button type="button" class="bad" onClick={() => respond({ action: 'decline' })}>
          Decline
        </button>
      </div>
    </form>
  );
}

/** The address in full; a link only where it leads to a page. */
function PageToVisit({ url }: { readonly url: string }) {
  const isPage = /^https?:\/\//i.test(url);
  return (
    <p>
      {isPage ? (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {visible(url)}
        </a>
      ) : (
        <code>{visible(url)}</code>
      )}
    </p>
  );
}

interface FieldProps {
  /**
   * Names the input in the page and in its form. It is none of the asker's: an input of that name would stand in the place of
   * what a form has by itself, and two forms may have the same fields.
   */
  readonly id: string;
  readonly field: FormField;
  readonly isRequired: boolean;
}

function FieldRow({ id, label, field, isRequired }: FieldProps & { readonly label: string }) {
  return (
    <p class="field">
      <label for={id}>
        {label}
        {isRequired ? '' : ' (optional)'}
      </label>
      {field.description !== undefined && <small>{visible(field.description)}</small>}
      <FieldInput id={id} field={field} isRequired={isRequired} />
    </p>
  );
}

function FieldInput({ id, field, isRequired }: FieldProps) {
  const choices = formChoices(field);
  const usual = field.default === undefined ? '' : String(field.default);
  if (choices) {
    const isMany = field.type === 'array';
    const chosen = isMany && Array.isArray(field.default) ? field.default.map(String) : [usual];
    return (
      <select name={id} id={id} multiple={isMany} required={isRequired}>
        {!isMany && usual === '' && <option value="">choose</option>}
        {choices.map(({ value, label }) => (
          <option key={value} value={value} selected={chosen.includes(value)}>
            {visible(label)}
          </option>
        ))}
      </select>
    );
  }
  if (field.type === 'boolean')
    return <input type="checkbox" name={id} id={id} defaultChecked={field.default === true} />;
  const shared = { name: id, id, required: isRequired, defaultValue: usual };
  if (field.type === 'number' || field.type === 'integer') {
    const step = field.type === 'integer' ? 1 : 'any';
    return <input type="number" step={step} min={field.minimum} max={field.maximum} {...shared} />;
  }
  const { minLength, maxLength, format } = field;
  if (format === 'date') return <input type="date" {...shared} />;
  if (format === 'email') return <input type="email" {...shared} />;
  if (format === 'uri') return <input type="url" {...shared} />;
  return <input type="text" minLength={minLength} maxLength={maxLength} {...shared} />;
}

function labelOf(name: string, { title }: FormField): string {
  return visible(title ?? name);
}

function valueIn({ type }: FormField, given: readonly FormDataEntryValue[]): Value {
  const words = given.filter((each): each is string => typeof each === 'string');
  if (type === 'boolean') return words.length > 0;
  if (type === 'array') return words;
  const [text = ''] = words;
  return (type === 'number' || type === 'integer') && text !== '' ? Number(text) : text;
}

function isNothing(value: Value): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}
