import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, isAbsolute } from 'node:path';
import { isCopilotConfigured } from '@groundcrew/model-access';
import { findExecutable } from '@groundcrew/runtime';
import { readConfig } from '../config/config.js';
import { mcpConfig } from '../config/mcp-config.js';
import { mcpFiles } from '../config/mcp-file.js';
import type { Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';

/** Something about the machine and the settings, in a sentence that says what to do. */
export interface Remark {
  readonly text: string;
  /** It has to be acted on. */
  readonly isProblem?: boolean;
}

/** What sessions of this home will find: room for them, a model service, MCP servers, ports. Nothing is started, and no service is asked. */
export async function examineEnvironment(
  homeDirectory: string,
  { environment, workingDirectory }: Pick<Terminal, 'environment' | 'workingDirectory'>,
): Promise<readonly Remark[]> {
  const own = { ...environment, GROUNDCREW_HOME: homeDirectory };
  return [
    ...homeRemarks(homeDirectory),
    modelRemark(own),
    ...mcpRemarks(homeDirectory, { environment, workingDirectory }),
    await portRemark(),
  ];
}

const otherHome = 'or name another home by GROUNDCREW_HOME';
const leastBytes = 16 * 1024 * 1024;

/** Whether sessions can be kept there at all. */
function homeRemarks(home: string): readonly Remark[] {
  const problem = (text: string) => [{ text: `problem: ${text}`, isProblem: true }];
  const place = nearestPlace(home);
  if (place === undefined) return [];
  try {
    if (!statSync(place).isDirectory())
      return problem(
        `the home ${home} cannot be there: ${place} is no directory. Move it away, ${otherHome}.`,
      );
    accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(place);
    const room = bavail * bsize;
    if (room >= leastBytes) return [];
    const left = `${Math.floor(room / 1024).toLocaleString('en')} KiB`;
    return problem(
      `there is hardly any space left where the home ${home} is: ${left}. Free some space, ${otherHome}.`,
    );
  } catch (error) {
    return problem(
      `the home ${home} cannot be read and written by this user (${textOf(error)}). Change whose ${place} is, ${otherHome}.`,
    );
  }
}

/** The home, or what it would be made in. */
function nearestPlace(home: string): string | undefined {
  for (let place = home; ; place = dirname(place)) {
    try {
      if (statSync(place, { throwIfNoEntry: false })) return place;
    } catch {
      // Something in its way is no directory, or not to be looked into: that is farther up.
    }
    if (place === dirname(place)) return undefined;
  }
}

function modelRemark(environment: Terminal['environment']): Remark {
  try {
    const { provider, model, warnings, ways } = readConfig({}, environment);
    const settingWarnings = warnings.length === 0 ? '' : ` config.json: ${warnings.join('; ')}.`;
    const named = model === undefined ? '' : `, model ${model}`;
    if (provider && !isAddress(provider.config.baseUrl))
      return {
        text: `problem: the model service has no address: ${visible(provider.config.baseUrl)}, by ${provider.source}, is none of http or https. Correct it where it is set, beside the key.`,
        isProblem: true,
      };
    if (provider && !isHeaderText(provider.config.apiKey ?? ''))
      return {
        text: `problem: the key by ${provider.source} has what no key has: an end of line, a blank, a foreign letter, or quotation marks around it. Copy it anew.`,
        isProblem: true,
      };
    if (provider)
      return {
        text: `The model service is ${provider.config.baseUrl}, by ${provider.source}${named}; groundcrew models asks it.${settingWarnings}`,
      };
    if (isCopilotConfigured(environment))
      return {
        text: `The model service is that of COPILOT_API_URL${named}; groundcrew models asks it.${settingWarnings}`,
      };
    const astray = ways.find(({ name }) => name === 'ollama');
    if (environment.OLLAMA_HOST?.trim() && astray && !astray.provider)
      return {
        text: `problem: the model service has no address: ${astray.reason}: ${visible(environment.OLLAMA_HOST)}. Correct it, such as http://127.0.0.1:11434.`,
        isProblem: true,
      };
    return {
      text: `note: no key of a model service: the offline model answers. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GROUNDCREW_BASE_URL, or name a provider in config.json.${settingWarnings}`,
    };
  } catch (error) {
    return { text: `problem: the settings cannot be used: ${textOf(error)}. Correct them.`, isProblem: true };
  }
}

function mcpRemarks(
  homeDirectory: string,
  { environment, workingDirectory }: Pick<Terminal, 'environment' | 'workingDirectory'>,
): readonly Remark[] {
  try {
    const config = mcpConfig(homeDirectory, environment);
    // Throws what is wrong with the file.
    config.read();
    const files = mcpFiles(homeDirectory, { own: environment, ofProjects: environment });
    const { servers, disabled, problems } = files({ workingDirectory, isDiscovering: true });
    const broken = problems.map((problem) => ({
      text: `problem: the MCP servers of this project cannot be read: ${visible(problem)}. Correct the file.`,
      isProblem: true,
    }));
    if (servers.size === 0)
      return broken.length > 0 ? broken : [{ text: 'No MCP server is named; groundcrew mcp add names one.' }];
    const path = environment.PATH ?? '';
    const faults = [...servers].flatMap(([name, { raw, source }]) =>
      disabled.includes(name) ? [] : serverFault({ name, raw, path, file: fileNames[source] ?? 'its file' }),
    );
    const names = [...servers.keys()].map((name) => (disabled.includes(name) ? `${name} (disabled)` : name));
    const listed = visible(names.join(', '));
    return [{ text: `MCP servers: ${listed}; groundcrew mcp test NAME starts one.` }, ...broken, ...faults];
  } catch (error) {
    return [
      {
        text: `problem: the MCP servers cannot be read: ${textOf(error)}. Correct the file.`,
        isProblem: true,
      },
    ];
  }
}

const fileNames: Readonly<Record<string, string>> = { user: 'mcp.json', workspace: '.mcp.json' };

/** Why a server cannot be used, as far as it shows without starting it. */
function serverFault(server: {
  readonly name: string;
  readonly raw: { readonly command?: unknown; readonly url?: unknown };
  readonly path: string;
  readonly file: string;
}): readonly Remark[] {
  const { raw, path, file } = server;
  const { command, url } = raw;
  const name = visible(server.name);
  const problem = (text: string) => [{ text: `problem: the MCP server ${name} ${text}`, isProblem: true }];
  if (typeof url === 'string' && !isAddress(url))
    return problem(`cannot be reached: ${visible(url)} is no address. Correct the server in ${file}.`);
  if (typeof command !== 'string' || isThere(command, path)) return [];
  return problem(
    `cannot start: there is no program ${visible(command)}. Install it, or correct the server in ${file}.`,
  );
}

function isAddress(text: string): boolean {
  return /^https?:/i.test(text) && URL.canParse(text);
}

/** What fits into one header, and is no text in quotation marks. Blanks around it do no harm. */
function isHeaderText(key: string): boolean {
  return /^[\t ]*[\x21-\x7e]*[\t ]*$/.test(key) && !/^(["'`]).*\1$/.test(key);
}

function isThere(command: string, path: string): boolean {
  const isPath = isAbsolute(command) || command.includes('/');
  return findExecutable(command, isPath ? [''] : path.split(delimiter)) !== undefined;
}

async function portRemark(): Promise<Remark> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return { text: 'Ports of this machine can be opened: groundcrew serve and inspect can listen.' };
  } catch (error) {
    return {
      text: `problem: no port of 127.0.0.1 can be opened (${textOf(error)}): serve and inspect cannot listen. Allow this program to.`,
      isProblem: true,
    };
  } finally {
    server.close();
  }
}

function textOf(error: unknown): string {
  return visible(error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
