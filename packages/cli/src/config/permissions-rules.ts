import { homedir } from 'node:os';
import { basename } from 'node:path';
import { type Rule, ruleBounds, type UserRules } from '@groundcrew/runtime';
import { entryOf, UsageError } from '../flags/arguments.js';
import { JsonFault, type JsonField, type JsonNode, parseJson, placeIn } from './json-source.js';

/** A file of rules that cannot be taken as it is; the message names file, line and field. */
export class RulesFault extends UsageError {}

/** Reads a text of rules, all or nothing. Throws RulesFault. */
export function readRules(source: string, path: string): UserRules {
  const at = (offset: number) => placeIn(source, offset);
  try {
    return rulesOf(parseJson(source), (offset) => `${basename(path)}, line ${at(offset).line}`);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const { line, column } = at(error.at);
    throw new RulesFault(`${path}:${line}:${column}: ${error.message}`);
  }
}

type OriginOf = (offset: number) => string;

function rulesOf(root: JsonNode, originOf: OriginOf): UserRules {
  const fields = fieldsOf(root, 'the file', ['$schema', 'deny', 'allow']);
  const list = (name: string) => {
    const field = fields.find((each) => each.name === name);
    if (!field) return [];
    const { items } = field.node;
    if (!items) throw new JsonFault(`${name}: expected a list of rules`, field.node.at);
    if (items.length > ruleBounds.most)
      throw new JsonFault(`${name}: at most ${ruleBounds.most} rules, not ${items.length}`, field.node.at);
    return items.map((item, index) => readRule(item, `${name}[${index}]`, originOf));
  };
  return { deny: list('deny'), allow: list('allow') };
}

/** What a rule may be about. */
const subjects = ['tool', 'command', 'path', 'url'] as const;

function readRule(node: JsonNode, path: string, originOf: OriginOf): Rule {
  const fields = fieldsOf(node, path, [...subjects, 'access']);
  const named = fields.filter(({ name }) => name !== 'access');
  const [subject, second] = named;
  if (!subject) throw new JsonFault(`${path}: expected one of ${subjects.join(', ')}`, node.at);
  if (second)
    throw new JsonFault(`${path}.${second.name}: a rule is about one thing; make it two rules`, second.at);
  const argument = textOf(subject, path);
  const origin = originOf(node.at);
  const access = fields.find(({ name }) => name === 'access');
  if (access && subject.name !== 'path') throw new JsonFault(`${path}.access: only a path has it`, access.at);
  if (subject.name === 'url' && !isAddress(argument))
    throw new JsonFault(`${path}.url: expected a host or an address`, subject.node.at);
  if (subject.name !== 'path')
    return { kind: entryOf(kinds, subject.name) ?? subject.name, argument, origin };
  return { kind: access ? accessOf(access, path) : 'path', argument: withHome(argument), origin };
}

const kinds: Readonly<Record<string, string>> = { command: 'shell' };

function isAddress(text: string): boolean {
  return text === '*' || URL.canParse(text.includes('://') ? text : `https://${text.replace(/^\*\./, '')}`);
}

function accessOf({ node }: JsonField, path: string): 'read' | 'write' {
  if (node.value === 'read' || node.value === 'write') return node.value;
  throw new JsonFault(`${path}.access: expected read or write`, node.at);
}

function textOf({ name, node }: JsonField, path: string): string {
  const { value } = node;
  if (typeof value === 'string' && value.length > ruleBounds.longest)
    throw new JsonFault(
      `${path}.${name}: at most ${ruleBounds.longest} characters, not ${value.length}`,
      node.at,
    );
  if (typeof value === 'string' && value.trim() !== '' && !value.includes('\0')) return value.trim();
  throw new JsonFault(`${path}.${name}: expected a text that says something`, node.at);
}

/** An unknown field is a mistake here: it may be a rule that was meant to hold. */
function fieldsOf(node: JsonNode, path: string, known: readonly string[]): readonly JsonField[] {
  if (!node.fields) throw new JsonFault(`${path}: expected an object`, node.at);
  const unknown = node.fields.find(({ name }) => !known.includes(name));
  if (!unknown) return node.fields;
  const field = path === 'the file' ? unknown.name : `${path}.${unknown.name}`;
  throw new JsonFault(`${field}: unknown field; known are ${known.join(', ')}`, unknown.at);
}

function withHome(path: string): string {
  return path.replace(/^~(?=\/|$)/, homedir());
}
