import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hookTypes } from '@groundcrew/protocol';
import type { RuntimeOptions } from '@groundcrew/runtime';
import type { ServerEnvironment } from '@groundcrew/server';
import {
  JsonFault,
  type JsonField,
  type JsonNode,
  largestSource,
  mostSourceValues,
  parseJson,
  placeIn,
  placesIn,
} from './json-source.js';
import { settingsText } from './settings-text.js';

type HookFilesReader = NonNullable<RuntimeOptions['hookFiles']>;
type HookPlace = Parameters<HookFilesReader['read']>[0];
type HookFiles = ReturnType<HookFilesReader['read']>;
type CommandHook = HookFiles['hooks'][number];
type HookDiscovery = NonNullable<ServerEnvironment['hookFiles']>;

/** Reads the hooks files of a home, of a session's configDir and of its project, in this order. */
export function hookFilesReader(homeDirectory: string, isAlwaysOn: boolean): HookFilesReader {
  return { isAlwaysOn, read: (place) => readHookFiles(homeDirectory, place) };
}

/** Looks for hooks where no session is open. */
export function hookDiscovery(homeDirectory: string, isAlwaysOn: boolean): HookDiscovery {
  const found = (files: readonly { readonly path: string; readonly base: string }[]) => {
    const read = files.map(({ path, base }) => readHooksFile(path, base));
    return {
      hooks: read.flatMap(({ hooks }) => hooks).map(shown),
      problems: read.flatMap(({ problem }) => problem ?? []),
    };
  };
  return {
    isAlwaysOn,
    ofUser: (base) => found([{ path: join(homeDirectory, 'hooks.json'), base }]),
    ofProject: (base) => found(projectFiles(base).map((path) => ({ path, base }))),
  };
}

function shown({ hookType, origin, matcher, ...hook }: CommandHook) {
  const content = JSON.stringify({ ...hook, ...(matcher && { matcher: matcher.source }) });
  return { hookType, source: origin, content };
}

function readHookFiles(homeDirectory: string, place: HookPlace): HookFiles {
  const { workingDirectory, projectDirectory, configDir } = place;
  const homes = unique([homeDirectory, configDir]).map((home) => join(home, 'hooks.json'));
  const projects = unique([projectDirectory, workingDirectory]);
  const files = [
    ...homes.map((path) => ({ path, base: workingDirectory })),
    ...projects.flatMap((base) => projectFiles(base).map((path) => ({ path, base }))),
  ];
  const read = files.map(({ path, base }) => readHooksFile(path, base));
  const problem = read.find((file) => file.problem !== undefined)?.problem;
  return {
    hooks: read.flatMap(({ hooks }) => hooks),
    ...(problem !== undefined && { problem }),
  };
}

function unique(directories: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(directories.flatMap((each) => (each === undefined ? [] : [resolve(each)])))];
}

function projectFiles(directory: string): readonly string[] {
  const shared = join(directory, '.github', 'hooks');
  const names = namesIn(shared).filter((name) => name.endsWith('.json'));
  return [join(directory, 'hooks.json'), ...names.toSorted().map((name) => join(shared, name))];
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readHooksFile(path: string, base: string): HookFiles {
  let source: string | undefined;
  try {
    source = settingsText(path);
  } catch (error) {
    return { hooks: [], problem: `${path}: cannot be read: ${String(error)}` };
  }
  if (source === undefined) return { hooks: [] };
  if (source.length > largestSource)
    return { hooks: [], problem: `${path}: is longer than ${largestSource}` };
  return readHooks(source, { path, base });
}

/** Reads a text of hooks, all or nothing; what is wrong in it is named with its line. */
export function readHooks(
  source: string,
  { path, base }: { readonly path: string; readonly base: string },
): HookFiles {
  try {
    const placeAt = placesIn(source);
    const at = (offset: number) => `${path}:${placeAt(offset).line}`;
    return { hooks: hooksOf(parseJson(source, mostSourceValues), { at, base }) };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const { line, column } = placeIn(source, error.at);
    return { hooks: [], problem: `${path}:${line}:${column}: ${error.message}` };
  }
}

interface Reading {
  at(offset: number): string;
  readonly base: string;
}

function hooksOf(root: JsonNode, reading: Reading): readonly CommandHook[] {
  const fields = fieldsOf(root, 'the file', ['$schema', 'version', 'comment', 'hooks']);
  const version = fields.find(({ name }) => name === 'version');
  if (version && version.node.value !== 1) throw new JsonFault('version: expected 1', version.node.at);
  const hooks = fields.find(({ name }) => name === 'hooks');
  if (!hooks) throw new JsonFault('hooks: expected an object of lists of commands', root.at);
  return fieldsOf(hooks.node, 'hooks', hookTypes).flatMap((field) => commandsOf(field, reading));
}

function commandsOf({ name, node }: JsonField, reading: Reading): readonly CommandHook[] {
  if (!node.items) throw new JsonFault(`hooks.${name}: expected a list of commands`, node.at);
  return node.items.map((item, index) => commandOf(item, { name, at: `hooks.${name}[${index}]` }, reading));
}

const commandFields = [
  'type',
  'bash',
  'powershell',
  'command',
  'cwd',
  'env',
  'timeoutSec',
  'timeout',
  'matcher',
  'onFailure',
  'comment',
];

function commandOf(
  node: JsonNode,
  { name, at }: { readonly name: string; readonly at: string },
  { at: placeOf, base }: Reading,
): CommandHook {
  const fields = new Map(fieldsOf(node, at, commandFields).map((field) => [field.name, field]));
  const type = fields.get('type');
  if (type && type.node.value !== 'command')
    throw new JsonFault(`${at}.type: expected "command"; no other kind of hook is run`, type.node.at);
  const shell = process.platform === 'win32' ? 'powershell' : 'bash';
  const command = fields.get(shell) ?? fields.get('command');
  if (!command) throw new JsonFault(`${at}: expected ${shell} or command`, node.at);
  const cwd = fields.get('cwd');
  const timeout = fields.get('timeoutSec') ?? fields.get('timeout');
  const matcher = fields.get('matcher');
  const onFailure = fields.get('onFailure');
  if (onFailure && onFailure.node.value !== 'deny' && onFailure.node.value !== 'allow')
    throw new JsonFault(`${at}.onFailure: expected deny or allow`, onFailure.node.at);
  return {
    hookType: name as CommandHook['hookType'],
    command: textOf(command, at),
    workingDirectory: cwd ? resolve(base, textOf(cwd, at)) : base,
    environment: environmentOf(fields.get('env'), at),
    timeoutMs: timeout ? secondsOf(timeout, at) * 1000 : 30_000,
    onFailure: onFailure?.node.value === 'allow' ? 'allow' : 'deny',
    origin: placeOf(node.at),
    ...(matcher && { matcher: patternOf(matcher, at) }),
  };
}

function environmentOf(field: JsonField | undefined, at: string): Readonly<Record<string, string>> {
  if (!field) return {};
  if (!field.node.fields) throw new JsonFault(`${at}.env: expected an object of texts`, field.node.at);
  return Object.fromEntries(
    field.node.fields.map(({ name, node }) => {
      if (typeof node.value !== 'string' || node.value.includes('\0'))
        throw new JsonFault(`${at}.env.${name}: expected a text`, node.at);
      return [name, node.value];
    }),
  );
}

const longestSeconds = 24 * 60 * 60;

function secondsOf({ name, node }: JsonField, at: string): number {
  const { value } = node;
  if (typeof value === 'number' && value > 0 && value <= longestSeconds) return value;
  throw new JsonFault(`${at}.${name}: expected seconds, at most ${longestSeconds}`, node.at);
}

function patternOf(field: JsonField, at: string): RegExp {
  const text = textOf(field, at);
  try {
    return new RegExp(text === '*' ? '^.*$' : `^(?:${text})$`);
  } catch {
    throw new JsonFault(`${at}.matcher: expected a regular expression`, field.node.at);
  }
}

function textOf({ name, node }: JsonField, at: string): string {
  const { value } = node;
  if (typeof value === 'string' && value.trim() !== '' && !value.includes('\0')) return value;
  throw new JsonFault(`${at}.${name}: expected a text that says something`, node.at);
}

/** An unknown field is a mistake here: it may be a hook that was meant to guard. */
function fieldsOf(node: JsonNode, at: string, known: readonly string[]): readonly JsonField[] {
  if (!node.fields) throw new JsonFault(`${at}: expected an object`, node.at);
  const unknown = node.fields.find(({ name }) => !known.includes(name));
  if (!unknown) return node.fields;
  const field = at === 'the file' ? unknown.name : `${at}.${unknown.name}`;
  throw new JsonFault(`${field}: unknown field; known are ${known.join(', ')}`, unknown.at);
}
