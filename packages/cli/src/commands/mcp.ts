import { resolve } from 'node:path';
import type { JsonObject } from '@groundcrew/protocol';
import { Runtime, Shells } from '@groundcrew/runtime';
import { commandEnvironment } from '../config/command-environment.js';
import { homeDirectory } from '../config/home.js';
import { mcpConfig } from '../config/mcp-config.js';
import { McpFileFault, mcpFiles, mcpPath } from '../config/mcp-file.js';
import { entryOf, UnknownOption, UsageError } from '../flags/arguments.js';
import { type Flag, switchFlag, textFlag } from '../flags/flags.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';
import { asksForHelp, type Command, defineCommand, show } from './command.js';
import { serve } from './mcp-serve.js';
import { openPage } from './open-page.js';

type McpProbe = Awaited<ReturnType<typeof Runtime.probeMcpServer>>;

/** A flag that may be given again and again. */
function pairsFlag(name: string, placeholder: string, help: string): Flag<Readonly<Record<string, string>>> {
  return {
    names: [name],
    placeholder,
    help,
    read: (value) => {
      const at = value.search(/[=:]/);
      if (at <= 0) throw new UsageError(`${name} needs ${placeholder}, not ${value}`);
      return { [value.slice(0, at).trim()]: value.slice(at + 1).trim() };
    },
    join: (before, more) => ({ ...before, ...more }),
  };
}

const json = switchFlag('--json', 'print it as JSON');

const ls = defineCommand({
  usage: ['groundcrew mcp ls [--json]'],
  summary: 'Lists the MCP servers that a session here would have, and where they come from',
  flags: { json },
  run: async ({ flags }, terminal) => {
    const { servers, disabled, problems, warnings = [] } = found(terminal);
    for (const problem of [...problems, ...warnings]) terminal.errorOutput.write(`${visible(problem)}\n`);
    const rows = [...servers].map(([name, { raw, source }]) => ({
      name,
      source,
      enabled: !disabled.includes(name),
      ...whereabouts(raw),
    }));
    if (flags.json) show(JSON.stringify(rows, undefined, 2), terminal);
    else if (rows.length === 0)
      show('There is no MCP server here: groundcrew mcp add NAME -- COMMAND', terminal);
    else {
      const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
      const lines = rows.map(
        ({ name, source, enabled, where }) =>
          `${enabled ? '*' : ' '} ${name.padEnd(width)}${source.padEnd(11)}${where}`,
      );
      show(lines.map(visible).join('\n'), terminal);
    }
    return problems.length > 0 ? exitCodes.failed : exitCodes.done;
  },
});

const add = defineCommand({
  usage: [
    'groundcrew mcp add NAME [--env NAME=VALUE] -- COMMAND [ARGUMENTS]',
    'groundcrew mcp add NAME --url URL [--header "NAME: VALUE"]',
  ],
  summary: "Writes an MCP server into the user's mcp.json",
  flags: {
    url: textFlag('--url', 'URL', 'where a server runs already'),
    sse: switchFlag('--sse', 'it speaks the older SSE, not streamable HTTP'),
    env: pairsFlag('--env', 'NAME=VALUE', 'a variable for the command; may be given again'),
    header: pairsFlag('--header', '"NAME: VALUE"', 'a header of every request; may be given again'),
    trusted: switchFlag('--trusted', 'believe what it says of its tools: those that only read run unasked'),
  },
  mostWords: 200,
  run: async ({ flags: { url, sse, env, header, trusted }, words }, terminal) => {
    const [name, command, ...args] = words;
    if (!name?.trim() || (command === undefined) === (url === undefined))
      throw new UsageError('groundcrew mcp add needs a name, and a command after -- or a --url');
    const stray = url === undefined ? { '--header': header, '--sse': sse || undefined } : { '--env': env };
    const [vain] = Object.entries(stray).find(([, value]) => value !== undefined) ?? [];
    if (vain)
      throw new UsageError(`groundcrew mcp add: ${vain} has no effect on ${url ? 'a url' : 'a command'}`);
    if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
      throw new UsageError(`groundcrew mcp add: ${url} is no address that begins with http:// or https://`);
    if (Object.hasOwn(configOf(terminal).read().servers, name))
      return failed(terminal, `There is a server ${name} already: groundcrew mcp rm ${name}`);
    const server: JsonObject = url
      ? { type: sse ? 'sse' : 'http', url, ...(header && { headers: header }) }
      : { command: command ?? '', args, ...(env && { env }) };
    return changing(terminal, (before) => ({
      ...before,
      servers: { ...before.servers, [name]: { ...server, ...(trusted && { trusted }) } },
    }));
  },
});

const rm = defineCommand({
  usage: ['groundcrew mcp rm NAME'],
  summary: "Takes an MCP server out of the user's mcp.json",
  flags: {},
  mostWords: 1,
  run: async ({ words: [name] }, terminal) => {
    if (name === undefined) throw new UsageError('groundcrew mcp rm needs the name of a server');
    if (!Object.hasOwn(configOf(terminal).read().servers, name))
      return failed(terminal, `There is no server ${name} in ${mcpPath(homeOf(terminal))}`);
    return changing(terminal, ({ servers, disabled }) => ({
      servers: Object.fromEntries(Object.entries(servers).filter(([each]) => each !== name)),
      disabled: disabled.filter((each) => each !== name),
    }));
  },
});

const test = defineCommand({
  usage: ['groundcrew mcp test NAME [--json]'],
  summary: 'Starts an MCP server, lists its tools, says how long that took or why it failed, and ends it',
  flags: { json },
  mostWords: 1,
  run: async ({ flags, words: [name] }, terminal) => {
    if (name === undefined) throw new UsageError('groundcrew mcp test needs the name of a server');
    const server = found(terminal).servers.get(name);
    if (!server) return failed(terminal, `There is no server ${name} here: groundcrew mcp ls`);
    const programs = new Shells(commandEnvironment(terminal.environment, homeOf(terminal)));
    const { version, workingDirectory } = terminal;
    const { signal } = new AbortController();
    const probe = await Runtime.probeMcpServer(
      server.raw,
      { programs, version, workingDirectory, homeDirectory: homeOf(terminal) },
      signal,
    ).finally(() => programs.close());
    show(flags.json ? JSON.stringify(probe, undefined, 2) : report(name, probe), terminal);
    return probe.status === 'connected' ? exitCodes.done : exitCodes.failed;
  },
});

const login = defineCommand({
  usage: ['groundcrew mcp login NAME [--force] [--client-id ID] [--client-secret-env NAME] [--machine]'],
  summary: 'Logs in at an MCP server with a browser, and keeps the tokens in the home',
  flags: {
    force: switchFlag('--force', 'log in again although there are tokens'),
    clientId: textFlag(
      '--client-id',
      'ID',
      'the id under which this program is registered there; default: it registers itself',
    ),
    secretEnv: textFlag('--client-secret-env', 'NAME', 'the variable that holds the secret of that client'),
    machine: switchFlag('--machine', 'log in as that client itself, without a user (client_credentials)'),
    browser: switchFlag('--no-browser', 'print the address only, and open no browser'),
  },
  mostWords: 1,
  run: async ({ flags, words: [name] }, terminal) => {
    if (name === undefined) throw new UsageError('groundcrew mcp login needs the name of a server');
    const server = found(terminal).servers.get(name);
    if (!server) return failed(terminal, `There is no server ${name} here: groundcrew mcp ls`);
    if (typeof server.raw.command === 'string')
      return failed(terminal, `The server ${name} is a command: there is nothing to log in at`);
    const { version, workingDirectory, environment } = terminal;
    const secret = flags.secretEnv === undefined ? undefined : entryOf(environment, flags.secretEnv);
    if (flags.secretEnv !== undefined && !secret)
      throw new UsageError(`The variable ${flags.secretEnv} is not set`);
    const programs = new Shells(commandEnvironment(environment, homeOf(terminal)));
    const stop = new AbortController();
    terminal.onStop(() => stop.abort());
    try {
      const probe = await Runtime.logInAtMcpServer(
        server.raw,
        {
          programs,
          version,
          workingDirectory,
          homeDirectory: homeOf(terminal),
          isForced: flags.force,
          clientId: flags.clientId,
          clientSecret: secret,
          ...(flags.machine && { isMachine: true }),
          show: (url) => openPage(url, { opens: !flags.browser, terminal }),
        },
        stop.signal,
      );
      show(report(name, probe), terminal);
      return probe.status === 'connected' ? exitCodes.done : exitCodes.failed;
    } catch (error) {
      return failed(terminal, error instanceof Error ? error.message : String(error));
    } finally {
      await programs.close();
    }
  },
});

const subcommands: Readonly<Record<string, Command>> = { ls, add, rm, test, login, serve };

/** `groundcrew mcp`: the user's MCP servers. */
export const mcp: Command = {
  usage: ['groundcrew mcp ls|add|rm|test|login|serve'],
  summary: 'Lists, adds, removes and tests MCP servers, logs in at them, and is one itself',
  help: () =>
    Object.values(subcommands)
      .map((command) => command.help())
      .join('\n'),
  start: async (argv, terminal) => {
    const [name = 'ls', ...rest] = argv;
    const command = entryOf(subcommands, name);
    try {
      if (command) return await command.start(rest, terminal);
    } catch (error) {
      if (error instanceof McpFileFault) return failed(terminal, error.message);
      throw error;
    }
    if (asksForHelp(argv)) return show(mcp.help(), terminal);
    if (name.startsWith('-')) throw new UnknownOption(name);
    throw new UsageError(`groundcrew mcp needs ls, add, rm, test, login or serve, not ${name}`);
  },
};

function report(name: string, { status, error, tools, milliseconds, protocolVersion }: McpProbe): string {
  if (status !== 'connected')
    return visible(`${name} ${status} after ${milliseconds} ms: ${error ?? 'no reason'}`);
  const lines = tools.map(
    (tool) => `  ${tool.name}  ${tool.description.split('\n')[0]?.slice(0, 100) ?? ''}`,
  );
  const first = `${name} is connected after ${milliseconds} ms (protocol ${protocolVersion ?? 'unknown'}), ${tools.length} tools`;
  return [first, ...lines].map(visible).join('\n');
}

function whereabouts(raw: JsonObject): { readonly type: string; readonly where: string } {
  const { type, command, args, url } = raw;
  if (typeof command === 'string')
    return { type: 'stdio', where: [command, ...(Array.isArray(args) ? args.map(String) : [])].join(' ') };
  return { type: type === 'sse' ? 'sse' : 'http', where: String(url) };
}

async function changing(
  terminal: Terminal,
  change: Parameters<ReturnType<typeof mcpConfig>['change']>[0],
): Promise<number> {
  await configOf(terminal).change(change);
  return exitCodes.done;
}

function failed({ errorOutput }: Terminal, message: string): number {
  errorOutput.write(`${visible(message)}\n`);
  return exitCodes.failed;
}

function homeOf({ environment }: Terminal): string {
  return resolve(homeDirectory(environment, { isHeadless: false }));
}

function configOf(terminal: Terminal) {
  return mcpConfig(homeOf(terminal), terminal.environment);
}

function found(terminal: Terminal) {
  const home = homeOf(terminal);
  const files = mcpFiles(home, {
    own: terminal.environment,
    ofProjects: commandEnvironment(terminal.environment, home),
  });
  return files({ workingDirectory: terminal.workingDirectory, isDiscovering: true });
}
