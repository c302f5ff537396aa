import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '@groundcrew/protocol';
import type { RuntimeOptions } from '@groundcrew/runtime';
import { writeWholeFile } from '@groundcrew/store';
import {
  JsonFault,
  type JsonField,
  type JsonNode,
  largestSource,
  mostSourceValues,
  parseJson,
  placesIn,
} from './json-source.js';
import { settingsText } from './settings-text.js';

type McpFiles = NonNullable<RuntimeOptions['mcpFiles']>;
type McpFileServer = ReturnType<McpFiles>['servers'] extends ReadonlyMap<string, infer S> ? S : never;
type Environment = Readonly<Record<string, string | undefined>>;

/** What a file of MCP servers says. */
export interface McpFileContents {
  readonly servers: Readonly<Record<string, JsonObject>>;
  /** Servers that stand there and do not start. */
  readonly disabled: readonly string[];
  /** What else stands in the file: it may be another program's. */
  readonly rest?: JsonObject;
  /** One sentence each, with line and column: what of it has no effect. */
  readonly warnings?: readonly string[];
  /** By the name of a server, where it stands. */
  readonly places?: ReadonlyMap<string, string>;
}

/** A file of MCP servers that cannot be read; says where. */
export class McpFileFault extends Error {
  override readonly name = 'McpFileFault';
}

/** Where a home keeps the user's MCP servers. */
export function mcpPath(homeDirectory: string): string {
  return join(homeDirectory, 'mcp.json');
}

/** Where a project keeps its own. */
function projectMcpPath(directory: string): string {
  return join(directory, '.mcp.json');
}

/** Reads a file as it is now; none is as good as an empty one. Throws McpFileFault. */
export function readMcpFile(path: string): McpFileContents {
  const source = sourceOf(path);
  if (source === undefined || source.trim() === '') return { servers: {}, disabled: [] };
  const placeAt = placesIn(source);
  const placeOf = (node: { readonly at: number }) => {
    const { line, column } = placeAt(node.at);
    return `${path}:${line}:${column}`;
  };
  const fault = (node: { readonly at: number }, message: string) =>
    new McpFileFault(`${placeOf(node)}: ${message}`);
  try {
    const root = parseJson(source, mostSourceValues);
    if (!root.fields) throw fault(root, 'expected an object with "mcpServers"');
    const field = (name: string) => root.fields?.find((each) => each.name === name)?.node;
    const servers = field('mcpServers') ?? field('servers');
    if (servers && !servers.fields) throw fault(servers, '"mcpServers" must be an object');
    for (const { name, node } of servers?.fields ?? []) checkServer(name, node, fault);
    const disabled = field('disabledMcpServers');
    if (disabled && !isTexts(disabled.value))
      throw fault(disabled, '"disabledMcpServers" must be a list of names');
    const listed = servers?.fields ?? [];
    const others = root.fields.filter(({ node }) => node !== servers && node !== disabled);
    return {
      servers: (servers?.value ?? {}) as Readonly<Record<string, JsonObject>>,
      disabled: [
        ...((disabled?.value ?? []) as readonly string[]),
        ...listed.filter(isOff).map(({ name }) => name),
      ],
      rest: Object.fromEntries(others.map(({ name, node }) => [name, node.value])) as JsonObject,
      warnings: listed.flatMap(({ name, node }) =>
        (node.fields ?? [])
          .filter((field) => !Object.hasOwn(fieldKinds, field.name))
          .map(
            (field) =>
              `${placeOf(field)}: "${field.name}" of the server ${JSON.stringify(name)} has no effect`,
          ),
      ),
      places: new Map(listed.map(({ name, at }) => [name, placeOf({ at })])),
    };
  } catch (error) {
    if (error instanceof JsonFault) throw fault(error, error.message);
    throw error;
  }
}

/** Writes a file for its owner alone: it may hold keys. */
export function writeMcpFile(path: string, { servers, disabled, rest = {} }: McpFileContents): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // A server says of itself that it is off for as long as it is; it need not be listed as well.
  const kept = Object.entries(servers).map(([name, { disabled: isOff, ...server }]): [string, JsonObject] => [
    name,
    isOff === undefined || (isOff === true && !disabled.includes(name))
      ? server
      : { ...server, disabled: isOff },
  ]);
  const listed = disabled.filter((name) => servers[name]?.disabled !== true);
  const contents = {
    ...rest,
    mcpServers: Object.fromEntries(kept),
    ...(listed.length > 0 && { disabledMcpServers: listed }),
  };
  const text = `${JSON.stringify(contents, undefined, 2)}\n`;
  if (Buffer.byteLength(text) > largestSource) throw new McpFileFault(`${path}: ${tooLarge}`);
  writeWholeFile(path, text);
}

const tooLarge = `a file of MCP servers has at most ${largestSource} bytes`;

type Kind = 'text' | 'number' | 'flag' | 'texts' | 'textMap' | 'any';

const fieldKinds: Readonly<Record<string, Kind>> = {
  type: 'text',
  command: 'text',
  args: 'texts',
  env: 'textMap',
  cwd: 'text',
  url: 'text',
  headers: 'textMap',
  tools: 'texts',
  excludeTools: 'texts',
  timeout: 'number',
  trusted: 'flag',
  deferTools: 'text',
  oauthClientId: 'text',
  oauthPublicClient: 'flag',
  oauthGrantType: 'text',
  disabled: 'flag',
  headersRefreshTtlMs: 'number',
  auth: 'any',
};

function isOff({ node }: JsonField): boolean {
  return node.fields?.some(({ name, node: { value } }) => name === 'disabled' && value === true) ?? false;
}

const fits: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  flag: (value) => typeof value === 'boolean',
  texts: isTexts,
  any: () => true,
  textMap: (value) => typeof value === 'object' && value !== null && isTexts(Object.values(value)),
};

const kindNames: Readonly<Record<Kind, string>> = {
  text: 'a text',
  number: 'a number',
  flag: 'true or false',
  texts: 'a list of texts',
  any: 'anything',
  textMap: 'an object of texts',
};

/** Fields that other programs have pass, with a warning. */
function checkServer(
  name: string,
  node: JsonNode,
  fault: (node: { readonly at: number }, message: string) => McpFileFault,
): void {
  if (!node.fields) throw fault(node, `the server ${JSON.stringify(name)} must be an object`);
  for (const field of node.fields) {
    const kind = Object.hasOwn(fieldKinds, field.name) ? fieldKinds[field.name] : undefined;
    if (kind && !fits[kind](field.node.value))
      throw fault(
        field.node,
        `"${field.name}" of the server ${JSON.stringify(name)} must be ${kindNames[kind]}`,
      );
  }
  if (!node.fields.some((field) => field.name === 'command' || field.name === 'url'))
    throw fault(node, `the server ${JSON.stringify(name)} has neither "command" nor "url"`);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function sourceOf(path: string): string | undefined {
  try {
    const source = settingsText(path);
    if (source !== undefined && source.length > largestSource) throw new Error(tooLarge);
    return source;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined;
    throw new McpFileFault(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The servers that files give a session: of the home, of its `configDir`, of the project. The later ones win. */
export function mcpFiles(
  homeDirectory: string,
  environments: { readonly own: Environment; readonly ofProjects: Environment },
): McpFiles {
  return ({ configDir, workingDirectory, pluginDirectories = [], isDiscovering }) => {
    const home = resolve(homeDirectory);
    const plugins = pluginDirectories.map((directory) =>
      projectMcpPath(resolve(workingDirectory, directory)),
    );
    const files = [
      ...(isDiscovering ? [{ path: mcpPath(home), source: 'user' as const }] : []),
      ...(isDiscovering && configDir !== undefined && resolve(configDir) !== home
        ? [{ path: mcpPath(resolve(configDir)), source: 'user' as const }]
        : []),
      ...plugins.map((path) => ({ path, source: 'plugin' as const })),
      ...(isDiscovering ? [{ path: projectMcpPath(workingDirectory), source: 'workspace' as const }] : []),
    ];
    const servers = new Map<string, McpFileServer>();
    const disabled: string[] = [];
    const problems: string[] = [];
    const warnings: string[] = [];
    for (const { path, source } of files) {
      try {
        const read = readMcpFile(path);
        const environment = source === 'workspace' ? environments.ofProjects : environments.own;
        warnings.push(...(read.warnings ?? []));
        for (const [name, raw] of Object.entries(read.servers)) {
          const place = `${read.places?.get(name) ?? path}: the server ${JSON.stringify(name)}`;
          const unset = new Set<string>();
          servers.set(name, { source, raw: expanded(raw, environment, unset) as JsonObject });
          warnings.push(
            ...[...unset].map((variable) => `${place} names the variable ${variable}, which is not set`),
          );
          if (raw.trusted === true && source !== 'user')
            warnings.push(`${place} cannot call itself trusted: name it in your own mcp.json for that`);
        }
        disabled.push(...read.disabled);
      } catch (error) {
        if (!(error instanceof McpFileFault)) throw error;
        problems.push(error.message);
      }
    }
    return { servers, disabled, problems, warnings };
  };
}

/** `${NAME}` stands for a variable, `${NAME:-text}` for the text where there is none. */
function expanded(value: JsonValue, environment: Environment, unset: Set<string>): JsonValue {
  if (typeof value === 'string') {
    // What is not closed names nothing: each beginning in it would be followed to the end.
    const end = value.lastIndexOf('}') + 1;
    const known = (_: string, name: string, fallback: string | undefined) => {
      const found = (Object.hasOwn(environment, name) ? environment[name] : undefined) ?? fallback;
      if (found === undefined) unset.add(name);
      return found ?? '';
    };
    return value.slice(0, end).replace(/\$\{(\w+)(?::-([^}]*))?\}/g, known) + value.slice(end);
  }
  if (Array.isArray(value)) return value.map((each) => expanded(each, environment, unset));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, expanded(each as JsonValue, environment, unset)]),
  );
}
