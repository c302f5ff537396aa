import { approveAll, type Client, defineTool } from '@groundcrew/sdk';
import { type CompletionMessage, RuleModel } from '@groundcrew/testkit';

/** What one answer of the tool `fetch` holds. */
const charactersPerTurn = 100_000;
const word = 'lorem ipsum dolor sit amet consectetur ';
const body = word.repeat(Math.ceil(charactersPerTurn / word.length)).slice(0, charactersPerTurn);

/** What every session of these is opened with: a window that a few turns fill. */
const options = {
  onPermissionRequest: approveAll,
  modelCapabilities: { limits: { max_prompt_tokens: 128_000 } },
  infiniteSessions: { backgroundCompactionThreshold: 0.8, bufferExhaustionThreshold: 0.95 },
  largeOutput: { enabled: false },
  tools: [
    defineTool('fetch', {
      description: 'Fetches a page',
      parameters: { type: 'object', properties: { page: { type: 'number' } } },
      skipPermission: true,
      handler: ({ page }: { readonly page: number }) => `Page ${page}: ${body}`,
    }),
  ],
} as const;

/** A model that fetches a page for each prompt that asks for one, and summarises in a sentence. */
export function openFetchingModel(): Promise<RuleModel> {
  return RuleModel.open((messages) => {
    const last = messages.at(-1);
    const text = textOf(last);
    if (last?.role === 'tool' || text.includes('has been summarized')) return { chunks: ['Read.'] };
    if (text.startsWith('Please create a detailed summary'))
      return { chunks: ['<overview>Pages were read.</overview>'] };
    const page = /^Fetch page (\d+)/m.exec(text)?.[1];
    if (page === undefined) return { chunks: ['Here I am.'] };
    return { calls: [{ id: `fetch-${page}`, name: 'fetch', arguments: { page: Number(page) } }] };
  });
}

/** Talks until the session has so many megabytes; says its id. */
export async function makeLongSession(
  client: Client,
  model: RuleModel,
  megabytes: number,
  onProgress: (share: number) => void = () => undefined,
): Promise<string> {
  const session = await client.createSession({ ...model.settings, ...options });
  const turns = Math.ceil((megabytes * 1_000_000) / charactersPerTurn);
  for (let turn = 1; turn <= turns; turn++) {
    await session.sendAndWait(`Fetch page ${turn}, please.`, 120_000);
    onProgress(turn / turns);
  }
  await session.disconnect();
  return session.sessionId;
}

/** Milliseconds from the wish to resume to the first answer. */
export async function timeToFirstAnswer(
  client: Client,
  model: RuleModel,
  sessionId: string,
): Promise<number> {
  const began = performance.now();
  const session = await client.resumeSession(sessionId, { ...model.settings, ...options });
  const answer = await session.sendAndWait('Are you there?');
  const milliseconds = performance.now() - began;
  if (answer?.data.content !== 'Here I am.') throw new Error(`It answered: ${answer?.data.content}`);
  await session.disconnect();
  return milliseconds;
}

function textOf(message: CompletionMessage | undefined): string {
  const { content } = message ?? {};
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}
