import {
  createOptions,
  methods,
  providerAddOptions,
  providerUpdateOptions,
  resumeOptions,
  type Support,
  type SupportTable,
  sendOptions,
  switchOptions,
  updateOptions,
} from '@groundcrew/protocol';

/** What works and what does not yet: a table of every option that has no effect, and of what SDK and wire have of the rest. */
export function statusPage(): string {
  const lines = [
    ...intro,
    ...section(
      'Opening a session',
      'Fields of `session.create` and `session.resume`, options of `createSession` and `resumeSession`.',
      {
        ...createOptions,
        ...resumeOptions,
      },
    ),
    ...section(
      'Prompts',
      'Fields of `session.send`, options of `send` and `sendAndWait`.',
      sendOptions,
      ofPrompts,
    ),
    ...section(
      'Changing a session',
      'Fields of `session.options.update`: over the wire, or by `session.call`.',
      updateOptions,
      byCall,
    ),
    ...section(
      'Changing the model',
      'Fields of `session.model.switchTo`, options of `setModel`.',
      switchOptions,
      ofModels,
    ),
    ...section(
      'Changing a model service',
      'Fields of `session.provider.update`, options of `updateProvider`.',
      providerUpdateOptions,
    ),
    ...section(
      'Adding model services',
      'Fields of `session.provider.add`: over the wire, or by `session.call`.',
      providerAddOptions,
      byCall,
    ),
    ...methodList(),
    ...notYet,
  ];
  return `${lines.join('\n')}\n`;
}

const intro: readonly string[] = [
  '# What works, and what does not yet',
  '',
  'Every option that a client can send, and whether the runtime goes by it; then every method.',
  'Written from the tables in `packages/protocol/src/options` by `npm run docs`. The runtime goes by the same tables, and the tests',
  'try each line on a real one (`e2e/options.test.ts`).',
  '',
  '- **works**: the runtime goes by it.',
  '- **warning**: it has no effect yet. A value that asks for something gets one `session.warning`: at the first prompt of a session',
  '  that was created with it, else at once. The answer to create and resume has the same texts as `warnings`, and our SDK makes each a',
  '  process warning, or calls `onWarning`. What clients send as off or empty is no reason to warn.',
  '- **refused**: it would protect its sender and does not yet. A value that asks for something is an error that names the option.',
  '',
  'There is also a warning for',
  '',
  '- a field that is not in these tables: it says the nearest name, over the wire and in our SDK;',
  '- a word that a field does not know, an option that another one leaves without effect, and a directory that is not there;',
  '- a parameter that another method of a session does not know;',
  '- `verbosity` and `reasoningSummary` when the model is called, where its wire has no such field or the model is known to refuse it.',
];

type Naming = (path: string) => string | undefined;

function section(title: string, intro: string, table: SupportTable, naming: Naming = ofSessions): string[] {
  const rows = [...rowsOf(table, '')].map(({ path, support }) => [
    code(path),
    naming(path) ?? '–',
    ...cellsOf(support),
  ]);
  const head = ['over the wire', 'in our SDK', 'status', ''];
  return ['', `## ${title}`, '', intro, '', ...[head, head.map(() => '---'), ...rows].map(row)];
}

interface Row {
  readonly path: string;
  readonly support: Support;
}

/** Of an object, what works is one row, and what does not one each. */
function* rowsOf(table: SupportTable, above: string): Generator<Row> {
  const working = Object.keys(table).filter((name) => isWhole(table[name]));
  if (above !== '' && working.length > 0)
    yield { path: `${above}${working.join(', ')}`, support: { type: 'used' } };
  for (const [name, support] of Object.entries(table)) {
    if (above !== '' && working.includes(name)) continue;
    if (isWhole(support)) yield { path: name, support: { type: 'used' } };
    else if (support.type === 'object') yield* rowsOf(support.fields, `${above}${name}.`);
    else yield { path: `${above}${name}`, support };
  }
}

/** Works, with all that is in it. */
function isWhole(support: Support | undefined): boolean {
  if (support?.type === 'variants') return true;
  if (support?.type === 'object') return Object.values(support.fields).every(isWhole);
  return support?.type === 'used';
}

function cellsOf(support: Support): readonly [string, string] {
  switch (support.type) {
    case 'used':
      return ['works', ''];
    case 'unused':
      return ['warning', `${support.because}${neutralText(support.neutral)}`];
    case 'refused':
      return ['refused', support.because];
    case 'object':
    case 'variants':
      return ['works', ''];
  }
}

function neutralText(values: readonly unknown[]): string {
  return values.length === 0
    ? ''
    : ` (${values.map((value) => code(JSON.stringify(value))).join(', ')} is so anyway.)`;
}

/** What the SDK calls otherwise, or says by itself. */
function ofSessions(path: string): string | undefined {
  const names: Readonly<Record<string, string | undefined>> = {
    requestPermission: code('onPermissionRequest'),
    requestUserInput: code('onUserInputRequest'),
    requestExitPlanMode: code('onExitPlanModeRequest'),
    requestAutoModeSwitch: code('onAutoModeSwitchRequest'),
    requestElicitation: code('onElicitationRequest'),
    commands: `${code(path)}, with a ${code('handler')} each`,
    traceparent: `${code('getTraceContext')} of the client`,
    tracestate: `${code('getTraceContext')} of the client`,
    toolFilterPrecedence: `always ${code('excluded')}`,
    envValueMode: `always ${code('direct')}`,
    'systemMessage.sections.action': `${code(path)}, a function for ${code('transform')}`,
  };
  if (Object.hasOwn(names, path)) return names[path];
  return code(path.replace('hasBearerTokenProvider', 'bearerTokenProvider'));
}

function ofPrompts(path: string): string | undefined {
  if (['prepend', 'billable', 'requiredTool', 'source', 'wait'].includes(path)) return undefined;
  if (path === 'sessionId') return 'the session';
  return path.startsWith('trace') ? ofSessions(path) : code(path);
}

function ofModels(path: string): string | undefined {
  if (path === 'sessionId') return 'the session';
  return path === 'modelId' ? code('model') : code(path);
}

function byCall(path: string): string {
  return code(path);
}

/** Every method there is has a handler: a missing one does not compile. */
function methodList(): string[] {
  const names = Object.keys(methods).sort();
  return [
    '',
    '## Methods',
    '',
    `These ${names.length} methods are answered, and described in [the wire](wire.md). Our SDK has functions for the most common ones and`,
    'reaches all of them by `client.call` and `session.call`. Any other method is answered with `-32601`, `Unhandled method`.',
    '',
    '| methods of | names |',
    '| --- | --- |',
    ...[...new Set(names.map(namespaceOf))].sort().map((namespace) => methodRow(namespace, names)),
  ];
}

function methodRow(namespace: string, names: readonly string[]): string {
  const members = names.filter((name) => namespaceOf(name) === namespace);
  const short = members.map((name) => code(name.slice(name.lastIndexOf('.') + 1)));
  return row([namespace === '' ? 'the connection' : code(namespace), short.join(', ')]);
}

/** Everything before the last dot; methods without one stand together. */
function namespaceOf(name: string): string {
  return name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : '';
}

const notYet = [
  '',
  '## Not yet',
  '',
  'Memory across sessions, embeddings, and what belongs to GitHub alone (its remote sessions, its experiments). Options that ask for them',
  'are warned about above. What official clients can call that no method here answers is in',
  '[compat](../compat/README.md#methods-that-clients-can-call-and-the-runtime-does-not-serve).',
];

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
