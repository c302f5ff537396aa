import { resumeOptions, type Support, type SupportTable } from '@groundcrew/protocol';

/** The names of the session options of the wire as a module of the SDK: the table itself is too large for browsers. */
export function wireOptions(): string {
  return `/** The names of a session's options on the wire. Written by \`npm run docs\` from their table. */
export const wireOptions = ${namesOf(resumeOptions, '')} as const;
`;
}

function namesOf(table: SupportTable, indent: string): string {
  const inner = `${indent}  `;
  const rows = Object.entries(table).map(
    ([name, support]) => `${inner}${name}: ${nameOf(support, inner)},\n`,
  );
  return `{\n${rows.join('')}${indent}}`;
}

function nameOf(support: Support, indent: string): string {
  if (support.type !== 'object') return 'true';
  const inner = `${indent}  `;
  return `{\n${inner}each: '${support.each}',\n${inner}names: ${namesOf(support.fields, inner)},\n${indent}}`;
}
