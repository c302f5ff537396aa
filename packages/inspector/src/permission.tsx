import {
  type Client,
  type EventData,
  type PermissionChoice,
  type PermissionRequest,
  permissionChoices,
} from '@groundcrew/sdk/browser';
import { DiffLines } from './diff-lines.js';
import { visible } from './format.js';
import { type Answered, useWords } from './question-parts.js';

type Asked = EventData<'permission.requested'>;

interface PermissionProps {
  readonly client: Client;
  readonly sessionId: string;
  readonly requestId: string;
  readonly data: Asked;
  send(answered: Answered): void;
}

/** May this run? The choices and their words are those of the terminal. */
export function Permission({ client, sessionId, requestId, data, send }: PermissionProps) {
  const { words, field } = useWords('Why not');
  const decide = async ({ scope }: PermissionChoice) => {
    const locationKey = scope === 'always' ? await placeOf(client, sessionId) : '';
    const chosen = permissionChoices(data, locationKey).find((each) => each.scope === scope);
    const result = chosen?.result ?? { kind: 'user-not-available' };
    const because = scope === 'deny' && words !== '' ? { feedback: words } : {};
    return client.call('session.permissions.handlePendingPermissionRequest', {
      sessionId,
      requestId,
      result: { ...result, ...because },
    });
  };
  return (
    <>
      <strong>{titleOf(data)}</strong>
      <Body {...data} />
      <div class="bar">
        {permissionChoices(data, '').map((choice) => (
          <button
            key={choice.scope}
            type="button"
            class={choice.scope === 'deny' ? 'bad' : 'good'}
            onClick={() => send(decide(choice))}
          >
            {visible(choice.label)}
          </button>
        ))}
        {field}
      </div>
    </>
  );
}

/** The name under which the runtime keeps what is approved for the place that a session works in. */
async function placeOf(client: Client, sessionId: string): Promise<string> {
  const { workingDirectory } = await client.call('session.metadata.snapshot', { sessionId });
  const place = { sessionId, workingDirectory };
  return (await client.call('session.permissions.locations.resolve', place)).locationKey;
}

function titleOf({ permissionRequest: request, promptRequest }: Asked): string {
  if (promptRequest?.kind === 'path')
    return `Allow to ${promptRequest.accessKind === 'write' ? 'write' : 'look'} outside the working directory?`;
  return visible(`Allow to ${deed(request)}?`);
}

function deed(request: PermissionRequest): string {
  switch (request.kind) {
    case 'shell':
      return 'run this command';
    case 'write':
      return `write ${request.fileName}`;
    case 'read':
      return `read ${request.path}`;
    case 'url':
      return `fetch ${request.url}`;
    case 'mcp':
      return `call ${request.toolName} of ${request.serverName}`;
    case 'custom-tool':
    case 'hook':
      return `call ${request.toolName}`;
    case 'memory':
      return 'remember this';
    default:
      return `do this (${request.kind})`;
  }
}

/** What would happen, in full. */
function Body({ permissionRequest: request, promptRequest }: Asked) {
  if (promptRequest?.kind === 'path')
    return <pre tabIndex={0}>{promptRequest.paths.map(visible).join('\n')}</pre>;
  switch (request.kind) {
    case 'shell':
      return (
        <>
          <pre tabIndex={0}>{visible(request.fullCommandText)}</pre>
          <Why why={request.intention} />
          {request.warning !== undefined && <p class="careful">careful: {visible(request.warning)}</p>}
        </>
      );
    case 'write':
      return <DiffLines diff={request.diff} />;
    case 'read':
      return null;
    case 'url':
      return <Why why={request.intention} />;
    case 'memory':
      return <pre tabIndex={0}>{visible(request.fact)}</pre>;
    case 'mcp':
    case 'custom-tool':
      return <Given args={request.args} />;
    case 'hook':
      return (
        <>
          <Given args={request.toolArgs} />
          <Why why={request.hookMessage ?? ''} />
        </>
      );
    default:
      return <Given args={request} />;
  }
}

function Why({ why }: { readonly why: string }) {
  return why === '' ? null : <p class="why">why: {visible(why)}</p>;
}

function Given({ args }: { readonly args: unknown }) {
  if (args === undefined) return null;
  return <pre tabIndex={0}>{visible(JSON.stringify(args, null, 2))}</pre>;
}
