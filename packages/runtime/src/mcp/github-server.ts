import type { JsonObject } from '@groundcrew/protocol';

/** The name that clients know the server by. */
export const gitHubServerName = 'github-mcp-server';

/** Where the Copilot API is, and who asks. */
export interface CopilotPlace {
  readonly baseUrl: string;
  readonly token: string;
}

/** GitHub's own server, as a client wants it: it can only read unless all tools, or some by name, are asked for. */
export function gitHubServer(wish: JsonObject, { baseUrl, token }: CopilotPlace): JsonObject {
  const { enableAllTools, enableInsidersMode } = wish;
  const [toolsets, tools] = [textsOf(wish.additionalToolsets), textsOf(wish.additionalTools)];
  const isWhole = enableAllTools === true;
  const path = isWhole || toolsets.length > 0 || tools.length > 0 ? 'mcp' : 'mcp/readonly';
  return {
    type: 'http',
    url: `${baseUrl.replace(/\/+$/, '')}/${path}`,
    headers: {
      Authorization: `Bearer ${token}`,
      ...((isWhole || toolsets.length > 0) && { 'X-MCP-Toolsets': isWhole ? 'all' : toolsets.join(',') }),
      ...(tools.length > 0 && !isWhole && { 'X-MCP-Tools': tools.join(',') }),
      ...(enableInsidersMode === true && { 'X-MCP-Insiders': 'true' }),
    },
  };
}

/** Names go into a header: what is none is left out. */
function textsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((each): each is string => typeof each === 'string' && /^[\w.-]{1,100}$/.test(each));
}
