import type { Schema, wireSchema } from './wire-schema.js';

/** The contract as a page to read: a table of everything that can be said. */
export function wirePage(wire: ReturnType<typeof wireSchema>): string {
  const long = new LongShapes();
  const lines = [
    '# The wire',
    '',
    `Protocol version ${wire.protocolVersion}. Written from the tables in \`packages/protocol\` by \`npm run docs\`; whole schemas are in`,
    '`packages/protocol/schema/wire.json`. A field with `?` may be left out; for a parameter, `null` is the same as leaving it out.',
    'Objects may carry fields that are not named here. `text("a", "b")` is any text, of which these are known.',
    ...section('Methods', 'What a client may call.', methodRows(wire.methods, long)),
    ...section('Callbacks', 'What the runtime may ask a client.', methodRows(wire.callbacks, long)),
    ...section(
      'Hook points',
      'What `hooks.invoke` carries as `input` and answers as `output`.',
      methodRows(wire.hookPoints, long),
    ),
    ...section('Notifications', 'What a client receives without having asked.', [
      ['notification', 'summary', 'says'],
      ...rows(wire.notifications, ({ params, summary }, name) => [summary, long.cell(params, name)]),
    ]),
    ...section(
      'Events',
      `Every event is ${code(fieldList(wire.eventEnvelope))}. A durable one is in the log.`,
      [
        ['event', 'kept', 'summary', 'data'],
        ...rows(wire.events, (event, name) => [
          event.durable ? 'durable' : 'ephemeral',
          event.summary,
          long.cell(event.data, name),
        ]),
      ],
    ),
    ...section('Error codes', 'The `code` of a JSON-RPC error.', [
      ['name', 'code'],
      ...rows(wire.errorCodes, (errorCode) => [String(errorCode)]),
    ]),
    ...section(
      'Failures',
      'The `data.code` of a failed request. A retryable one may succeed a little later.',
      [
        ['code', 'retryable', 'meaning'],
        ...rows(wire.failureCodes, ({ retryable, summary }) => [retryable ? 'yes' : 'no', summary]),
      ],
    ),
    ...long.section(),
  ];
  return `${lines.join('\n')}\n`;
}

/** Shapes too long for a row: they stand at the end of the page, a line for each field. */
class LongShapes {
  private readonly shapes: { readonly title: string; readonly schema: Schema }[] = [];

  cell(schema: Schema, title: string): string {
    const text = fields(schema);
    if (text.length <= longestCell || !schema.properties) return text;
    this.shapes.push({ title, schema });
    return `[fields](#${anchor(title)})`;
  }

  section(): string[] {
    const list = this.shapes.flatMap(({ title, schema }) => ['', `### ${title}`, '', ...fieldLines(schema)]);
    return ['', '## Long shapes', '', 'One line for each field.', ...list];
  }
}

/** Characters of the longest shape that a row holds. */
const longestCell = 240;

function fieldLines({ properties = {}, required = [] }: Schema): string[] {
  return Object.entries(properties).map(
    ([name, schema]) =>
      `- ${code(`${name}${required.includes(name) ? '' : '?'}`)}: ${code(typeText(schema))}`,
  );
}

/** The place of a heading, as renderers of Markdown make it. */
function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function section(title: string, intro: string, [head = [], ...body]: string[][]): string[] {
  return ['', `## ${title}`, '', intro, '', row(head), row(head.map(() => '---')), ...body.map(row)];
}

function methodRows(
  table: Readonly<Record<string, { params: Schema; result: Schema; summary: string }>>,
  long: LongShapes,
): string[][] {
  const entries = rows(table, ({ params, result, summary }, name) => [
    summary,
    long.cell(params, `${name} takes`),
    long.cell(result, `${name} answers`),
  ]);
  return [['method', 'summary', 'takes', 'answers'], ...entries];
}

function rows<T>(
  table: Readonly<Record<string, T>>,
  cells: (entry: T, name: string) => string[],
): string[][] {
  return Object.entries(table).map(([name, entry]) => [code(name), ...cells(entry, name)]);
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function fields(schema: Schema): string {
  return code(schema.properties ? fieldList(schema) : typeText(schema));
}

function fieldList({ properties = {}, required = [] }: Schema): string {
  const list = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(schema)}`,
  );
  return `{ ${list.join(', ')} }`.replace('{  }', '{}');
}

function typeText(schema: Schema): string {
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return [...new Set(variants.map(typeText))].join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.examples) return `text(${schema.examples.map((value) => JSON.stringify(value)).join(', ')})`;
  if (schema.type === 'array') return listText(typeText(schema.items ?? {}));
  return [schema.type ?? 'any'].flat().join(' | ');
}

function listText(item: string): string {
  return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
}

function code(text: string): string {
  return `\`${text}\``;
}
