import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import type { ClientRequests } from '../questions/client-requests.js';
import { plainText } from './plain-text.js';

type Asked = Parameters<ClientRequests['elicit']>[0];

const longestMessage = 4096;

/** Shows a form of a server, or a page it wants visited, to clients; the first answer goes back to the server. */
export async function elicitFor(
  serverName: string,
  params: ElicitRequestParams,
  requests: ClientRequests,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const message = plainText(params.message, longestMessage);
  const asked: Asked = {
    message,
    elicitationSource: serverName,
    ...(params.mode === 'url'
      ? { mode: 'url' as const, url: params.url }
      : { requestedSchema: params.requestedSchema as Asked['requestedSchema'] }),
  };
  const { action = 'cancel', content } = await requests.elicit(asked, signal);
  return { action, ...(content && { content: { ...content } as ElicitResult['content'] }) };
}
