import { resumeOptions, type Support, type SupportTable } from '@groundcrew/protocol';

/** The names of the session options of the wire as a module of the SDK: the table itself is too large for browsers. */
export function wireOptions(): string {
  return `/** The names of a session's options on the wire. Written by \`npm run docs\` from their table. */
export const wireOptions = ${namesOf(withoutOwn(resumeOptions), '')} as const;
`;
}

/** Those whose fields the SDK names itself, in `option-names.ts`. */
const ownOptions = ['providers', 'tools', 'commands', 'hookOptions', 'mcpServers', 'customAgents'];

function withoutOwn(table: SupportTable): SupportTable {
  const rows = Object.entries(table);
  return Object.fromEntries(
    rows.map(([name, support]) => [name, ownOptions.includes(name) ? { type: 'used' } : support]),
  );
}

/** As the formatter leaves it: on one line where that is short enough. */
const longestLine = 110;

function namesOf(table: SupportTable, indent: string): string {
  const inner = `${indent}  `;
  const rows = Object.entries(table).map(([name, support]) => {
    const whole = `${inner}${name}: ${nameInLine(support)},\n`;
    return whole.length <= longestLine + 1 ? whole : `${inner}${name}: ${nameOf(support, inner)},\n`;
  });
  return `{\n${rows.join('')}${indent}}`;
}

function nameInLine(support: Support): string {
  if (support.type !== 'object') return 'true';
  const names = Object.entries(support.fields).map(([name, field]) => `${name}: ${nameInLine(field)}`);
  return `{ each: '${support.each}', names: { ${names.join(', ')} } }`;
}

function nameOf(support: Support, indent: string): string {
  if (support.type !== 'object') return 'true';
  const inner = `${indent}  `;
  return `{\n${inner}each: '${support.each}',\n${inner}names: ${namesOf(support.fields, inner)},\n${indent}}`;
}
