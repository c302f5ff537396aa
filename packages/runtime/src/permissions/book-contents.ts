import { isObject, type JsonObject, type JsonValue } from '@groundcrew/protocol';
import type { Approval } from './policy.js';
import { isSameRule, type Rule } from './rules.js';

/** The book of approvals cannot be read or written; what it holds counts for nothing until then, and is not overwritten. */
export class BookFault extends Error {
  override readonly name = 'BookFault';
}

/** What one place has been approved for. */
export interface LocationApprovals {
  readonly approvals: readonly Approval[];
  readonly rules: readonly Rule[];
}

/** All that the book holds; fields of other programs stay in `raw`. */
export interface BookContents {
  readonly locations: ReadonlyMap<string, LocationApprovals>;
  readonly trustedFolders: readonly string[];
  /** Hosts that may be fetched from for good. */
  readonly domains: readonly string[];
  readonly raw: JsonObject;
}

/** A book that is not there yet. */
export const emptyBook: BookContents = { locations: new Map(), trustedFolders: [], domains: [], raw: {} };

/** What a place has been approved for. */
export function locationOf({ locations }: BookContents, key: string): LocationApprovals {
  return locations.get(key) ?? { approvals: [], rules: [] };
}

/** The book with a place's entry replaced; an empty one is taken out. */
export function withLocation(book: BookContents, key: string, entry: LocationApprovals): BookContents {
  const locations = new Map(book.locations);
  if (entry.approvals.length + entry.rules.length > 0) locations.set(key, entry);
  else locations.delete(key);
  return { ...book, locations };
}

/** The book with one more approval for a place; the same book when it is there already. */
export function withApproval(book: BookContents, key: string, approval: Approval): BookContents {
  const entry = locationOf(book, key);
  const text = JSON.stringify(approval);
  if (entry.approvals.some((each) => JSON.stringify(each) === text)) return book;
  return withLocation(book, key, { ...entry, approvals: [...entry.approvals, approval] });
}

/** An approval, as the rules it amounts to. */
export function rulesOf(approval: Approval): readonly Rule[] {
  const { kind, commandIdentifiers, serverName, toolName, domain } = approval;
  const argument = (value: unknown) => (typeof value === 'string' ? value : null);
  if (kind === 'commands' && Array.isArray(commandIdentifiers))
    return commandIdentifiers.map((each) => ({ kind: 'shell', argument: String(each) }));
  if (kind === 'mcp') return [{ kind: String(serverName), argument: argument(toolName) }];
  return [{ kind: String(kind), argument: argument(toolName ?? domain) }];
}

/** The same list without rules that say the same. */
export function withoutRules(rules: readonly Rule[], gone: readonly Rule[]): readonly Rule[] {
  return rules.filter((rule) => !gone.some((each) => isSameRule(each, rule)));
}

/** Reads the book's text; throws BookFault. */
export function parseBook(source: string, file: string): BookContents {
  try {
    const raw = asObject(JSON.parse(source), 'the file');
    const places = Object.entries(asObject(raw.locations ?? {}, 'locations'));
    return {
      locations: new Map(places.map(([key, entry]) => [key, readLocation(entry)])),
      trustedFolders: texts(raw.trusted_folders ?? []),
      domains: texts(raw.allowed_domains ?? []),
      raw,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BookFault(`${file} is damaged: ${reason}. Mend or remove it; until then nothing in it counts.`);
  }
}

/** The book as text. */
export function printBook({ raw, locations, trustedFolders, domains }: BookContents): string {
  const before = asObject(raw.locations ?? {}, 'locations');
  const places = [...locations].map(([key, { approvals, rules }]): [string, unknown] => [
    key,
    {
      ...(Object.hasOwn(before, key) && asObject(before[key], key)),
      tool_approvals: approvals,
      ...(rules.length > 0 ? { rules } : { rules: undefined }),
    },
  ]);
  const contents = {
    ...raw,
    locations: Object.fromEntries(places),
    ...(trustedFolders.length > 0 && { trusted_folders: trustedFolders }),
    ...(domains.length > 0 && { allowed_domains: domains }),
  };
  return `${JSON.stringify(contents, undefined, 2)}\n`;
}

function readLocation(value: JsonValue | undefined): LocationApprovals {
  const entry = asObject(value, 'an entry of locations');
  const list = (field: JsonValue | undefined) => {
    if (Array.isArray(field)) return field.map((each) => asObject(each, 'an approval'));
    throw new Error('expected a list of approvals');
  };
  return {
    approvals: list(entry.tool_approvals ?? []),
    rules: list(entry.rules ?? []).map(({ kind, argument = null }) => ({
      kind: String(kind),
      argument: argument === null ? null : String(argument),
    })),
  };
}

function asObject(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw new Error(`${what} must be an object`);
}

function texts(value: JsonValue): readonly string[] {
  if (Array.isArray(value) && value.every((each): each is string => typeof each === 'string')) return value;
  throw new Error('expected a list of texts');
}
