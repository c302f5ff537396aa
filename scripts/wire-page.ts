import type { Schema, wireSchema } from './wire-schema.js';

/** The contract as a page to read: a table of everything that can be said. */
export function wirePage(wire: ReturnType<typeof wireSchema>): string {
  const lines = [
    '# The wire',
    '',
    `Protocol version ${wire.protocolVersion}. Written from the tables in \`packages/protocol\` by \`npm run docs\`; whole schemas are in`,
    '`packages/protocol/schema/wire.json`. A field with `?` may be left out; for a parameter, `null` is the same as leaving it out.',
    'Objects may carry fields that are not named here. `text("a", "b")` is any text, of which these are known.',
    ...section('Methods', 'What a client may call.', methodRows(wire.methods)),
    ...section('Callbacks', 'What the runtime may ask a client.', methodRows(wire.callbacks)),
    ...section(
      'Hook points',
      'What `hooks.invoke` carries as `input` and answers as `output`.',
      methodRows(wire.hookPoints),
    ),
    ...section('Notifications', 'What a client is told without being asked.', [
      ['notification', 'summary', 'says'],
      ...rows(wire.notifications, ({ params, summary }) => [summary, fields(params)]),
    ]),
    ...section(
      'Events',
      `Every event is ${code(fieldList(wire.eventEnvelope))}. A durable one is in the log.`,
      [
        ['event', 'kept', 'summary', 'data'],
        ...rows(wire.events, (event) => [
          event.durable ? 'durable' : 'ephemeral',
          event.summary,
          fields(event.data),
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
  ];
  return `${lines.join('\n')}\n`;
}

function section(title: string, intro: string, [head = [], ...body]: string[][]): string[] {
  return ['', `## ${title}`, '', intro, '', row(head), row(head.map(() => '---')), ...body.map(row)];
}

function methodRows(
  table: Readonly<Record<string, { params: Schema; result: Schema; summary: string }>>,
): string[][] {
  const entries = rows(table, ({ params, result, summary }) => [summary, fields(params), fields(result)]);
  return [['method', 'summary', 'takes', 'answers'], ...entries];
}

function rows<T>(table: Readonly<Record<string, T>>, cells: (entry: T) => string[]): string[][] {
  return Object.entries(table).map(([name, entry]) => [code(name), ...cells(entry)]);
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
