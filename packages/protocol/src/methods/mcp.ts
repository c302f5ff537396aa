import * as z from 'zod/mini';
import { method } from '../define.js';
import { nothing, once, openObject } from '../schema.js';

const config = once(() => z.record(z.string(), z.unknown()));
const named = once(() => openObject({ name: z.string(), config: config() }));
const names = once(() => openObject({ names: z.array(z.string()) }));

/** The user's MCP servers: `mcp.json` of the home. */
export const mcpMethods = {
  'mcp.config.list': method(
    "The servers of the user's `mcp.json`, by name, with all that stands there.",
    () => openObject({}),
    () => openObject({ servers: z.record(z.string(), config()) }),
  ),
  'mcp.config.add': method(
    'Writes a server into `mcp.json`; fails when one of that name is there.',
    named,
    nothing,
  ),
  'mcp.config.update': method('Replaces a server of `mcp.json`.', named, nothing),
  'mcp.config.remove': method(
    'Takes a server out of `mcp.json`; one that is not there is no error.',
    () => openObject({ name: z.string() }),
    nothing,
  ),
  'mcp.config.enable': method('Has servers start again in sessions to come.', names, nothing),
  'mcp.config.disable': method('Keeps servers from starting in sessions to come.', names, nothing),
  'mcp.config.reload': method(
    'Does nothing: files are read when a session needs them.',
    () => openObject({}),
    nothing,
  ),
  'mcp.discover': method(
    'The servers that a session in a directory would have, with where they come from.',
    () => openObject({ workingDirectory: z.optional(z.string()) }),
    () =>
      openObject({
        servers: z.array(
          openObject({
            name: z.string(),
            type: z.optional(z.enum(['stdio', 'http', 'sse', 'memory'])),
            source: z.enum(['user', 'workspace', 'plugin', 'builtin']),
            enabled: z.boolean(),
          }),
        ),
      }),
  ),
};
