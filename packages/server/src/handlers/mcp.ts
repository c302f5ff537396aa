import type { JsonObject, Methods } from '@groundcrew/protocol';
import type { McpConfig } from '../environment.js';
import { Refusal } from '../failure.js';
import type { CallContext, Handlers } from '../handler.js';
import { namedDirectories } from '../named-directories.js';

type Names = Extract<keyof Methods, `mcp.${string}`>;

export const mcpHandlers: Handlers<Pick<Methods, Names>> = {
  async 'mcp.config.list'(_params, context) {
    const { servers } = configOf(context).read();
    return { servers: { ...servers } };
  },
  async 'mcp.config.add'({ name, config }, context) {
    await configOf(context).change(({ servers, disabled }) => {
      if (Object.hasOwn(servers, name)) throw new Refusal(`MCP server '${name}' is there already`);
      return { servers: { ...servers, [checkedName(name)]: checked(name, config as JsonObject) }, disabled };
    });
    return null;
  },
  async 'mcp.config.update'({ name, config }, context) {
    await configOf(context).change(({ servers, disabled }) => {
      if (!Object.hasOwn(servers, name)) throw new Refusal(`MCP server '${name}' is not there`);
      return { servers: { ...servers, [name]: checked(name, config as JsonObject) }, disabled };
    });
    return null;
  },
  async 'mcp.config.remove'({ name }, context) {
    await configOf(context).change(({ servers, disabled }) => ({
      servers: Object.fromEntries(Object.entries(servers).filter(([each]) => each !== name)),
      disabled: disabled.filter((each) => each !== name),
    }));
    return null;
  },
  async 'mcp.config.enable'({ names }, context) {
    const enabled = new Set(names);
    await configOf(context).change(({ servers, disabled }) => ({
      servers,
      disabled: disabled.filter((each) => !enabled.has(each)),
    }));
    return null;
  },
  async 'mcp.config.disable'({ names }, context) {
    await configOf(context).change(({ servers, disabled }) => ({
      servers,
      disabled: [...new Set([...disabled, ...names])],
    }));
    return null;
  },
  async 'mcp.config.reload'() {
    return null;
  },
  async 'mcp.discover'({ workingDirectory }, context) {
    const { environment } = context;
    const named = workingDirectory === undefined ? [] : [workingDirectory];
    const [directory = environment.workingDirectory] = namedDirectories(named, environment.workingDirectory);
    return { servers: [...configOf(context).discover(directory)] };
  },
};

function configOf({ environment }: CallContext): McpConfig {
  if (!environment.mcpConfig) throw new Refusal('This runtime has no file of MCP servers');
  return environment.mcpConfig;
}

/** A name that no file or object trips over. */
function checkedName(name: string): string {
  if (name.trim() === '' || name.length > 200)
    throw new Refusal('A server needs a name of up to 200 characters');
  return name;
}

function checked(name: string, config: JsonObject): JsonObject {
  if (typeof config.command !== 'string' && typeof config.url !== 'string')
    throw new Refusal(`MCP server '${name}' has neither a command nor a url`);
  return config;
}
