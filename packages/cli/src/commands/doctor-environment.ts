import { createServer } from 'node:net';
import { delimiter, isAbsolute } from 'node:path';
import { isCopilotConfigured } from '@groundcrew/model-access';
import { findExecutable } from '@groundcrew/runtime';
import { readConfig } from '../config/config.js';
import { mcpConfig } from '../config/mcp-config.js';
import type { Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';

/** Something about the machine and the settings, in a sentence that says what to do. */
export interface Remark {
  readonly text: string;
  /** It has to be acted on. */
  readonly isProblem?: boolean;
}

/** What sessions of this home will find: a model service, MCP servers, ports. Nothing is started, and no service is asked. */
export async function examineEnvironment(
  homeDirectory: string,
  { environment, workingDirectory }: Pick<Terminal, 'environment' | 'workingDirectory'>,
): Promise<readonly Remark[]> {
  const own = { ...environment, GROUNDCREW_HOME: homeDirectory };
  return [
    modelRemark(own),
    ...mcpRemarks(homeDirectory, { environment, workingDirectory }),
    await portRemark(),
  ];
}

function modelRemark(environment: Terminal['environment']): Remark {
  try {
    const { provider, model, warnings } = readConfig({}, environment);
    const settingWarnings = warnings.length === 0 ? '' : ` config.json: ${warnings.join('; ')}.`;
    const named = model === undefined ? '' : `, model ${model}`;
    if (provider && !isAddress(provider.config.baseUrl))
      return {
        text: `problem: the model service has no address: ${visible(provider.config.baseUrl)}, by ${provider.source}, is none of http or https. Correct it where it is set, beside the key.`,
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
    const own = Object.entries(config.read().servers);
    const found = config.discover(workingDirectory);
    if (found.length === 0) return [{ text: 'No MCP server is named; groundcrew mcp add names one.' }];
    const missing = own.flatMap(([name, server]) => {
      const { command, url } = server as { readonly command?: unknown; readonly url?: unknown };
      if (typeof url === 'string' && !isAddress(url))
        return [
          {
            text: `problem: the MCP server ${name} cannot be reached: ${visible(url)} is no address. Correct the server in mcp.json.`,
            isProblem: true,
          },
        ];
      if (typeof command !== 'string' || isThere(command, environment.PATH ?? '')) return [];
      return [
        {
          text: `problem: the MCP server ${name} cannot start: there is no program ${command}. Install it, or correct the server in mcp.json.`,
          isProblem: true,
        },
      ];
    });
    const names = found.map(({ name, enabled }) => (enabled ? name : `${name} (disabled)`)).join(', ');
    return [{ text: `MCP servers: ${names}; groundcrew mcp test NAME starts one.` }, ...missing];
  } catch (error) {
    return [
      {
        text: `problem: the MCP servers cannot be read: ${textOf(error)}. Correct the file.`,
        isProblem: true,
      },
    ];
  }
}

function isAddress(text: string): boolean {
  return /^https?:/i.test(text) && URL.canParse(text);
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
