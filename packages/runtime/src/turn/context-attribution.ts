import { sizeOf, viewOf } from '../log/history-view.js';
import type { AgentState, HistoryEntry } from '../log/state.js';
import type { PromptFacts } from '../prompt/section.js';
import { instructionBlocks } from '../prompt/sections/custom-instructions.js';
import type { Tool } from '../tools/tool.js';
import { sizeOfTools } from '../tools/toolset.js';
import type { ModelPlan } from './agent-context.js';

/** What fills the window, from one source. One without a parent counts its children, too. */
interface ContextEntry {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  readonly tokens: number;
  readonly parentId?: string;
}

/** Where the tokens of a request come from. */
export interface ContextAttribution {
  /** What files and the organisation say, as far as the prompt has it; a part of the system prompt's tokens. */
  readonly customInstructionsTokens: number;
  /** A part of the tokens of all definitions. */
  readonly mcpToolsTokens: number;
  readonly entries: readonly ContextEntry[];
}

/** A message that the model sees, and its estimated size. */
export interface WeighedMessage {
  readonly id: string;
  readonly label: string;
  readonly role: HistoryEntry['role'];
  readonly tokens: number;
}

type Piece = Omit<ContextEntry, 'tokens' | 'parentId'> & { readonly size: number };

/** By source, of what the model sees now. */
export function attributeContext(
  agent: AgentState,
  plan: ModelPlan,
  facts: Pick<PromptFacts, 'instructions' | 'organizationInstructions'>,
): ContextAttribution {
  const { system, toolset } = plan;
  const blocks = instructionBlocks(facts).filter(({ text }) => system.includes(text));
  const instructions = blocks.map(
    ({ id, label, text }): Piece => ({ kind: 'instructions', id, label, size: text.length }),
  );
  const ofServers = toolset.tools.filter(({ source }) => source === 'mcp');
  const others = toolset.tools.filter(({ source }) => source !== 'mcp');
  const messages = viewOf(agent.history, agent.view, plan.model);
  const own = {
    kind: 'system',
    id: 'system:own',
    label: 'Own text',
    size: system.length - sizeOfPieces(instructions),
  };
  const groups = [
    group({ kind: 'system', id: 'system', label: 'System prompt' }, [own, ...instructions]),
    group(
      { kind: 'tools', id: 'tools', label: 'Tool definitions' },
      [...others, ...ofServers].map(pieceOfTool),
    ),
    group({ kind: 'messages', id: 'messages', label: 'Messages' }, piecesOfMessages(messages)),
  ];
  const entries = groups.flat();
  const tokensOf = (isMeant: (entry: ContextEntry) => boolean) =>
    entries.reduce((sum, entry) => (isMeant(entry) ? sum + entry.tokens : sum), 0);
  return {
    customInstructionsTokens: tokensOf(({ kind }) => kind === 'instructions'),
    mcpToolsTokens: tokensOf(({ kind }) => kind === mcpTool),
    entries,
  };
}

/** The messages that the model sees, the heaviest first. */
export function weighMessages(agent: AgentState, model: string): readonly WeighedMessage[] {
  return viewOf(agent.history, agent.view, model)
    .map((entry) => ({
      id: entry.eventId,
      label: labelOf(entry).slice(0, 80),
      role: entry.role,
      tokens: Math.ceil(sizeOf(entry) / 4),
    }))
    .sort((a, b) => b.tokens - a.tokens);
}

/** The whole and its parts. Each is rounded by what stands before it, so that the parts add up to the whole. */
function group(whole: Omit<Piece, 'size'>, pieces: readonly Piece[]): readonly ContextEntry[] {
  let before = 0;
  const parts = pieces.map(({ size, ...piece }) => {
    const tokens = Math.ceil((before + size) / 4) - Math.ceil(before / 4);
    before += size;
    return { ...piece, tokens, parentId: whole.id };
  });
  return [{ ...whole, tokens: Math.ceil(before / 4) }, ...parts];
}

function sizeOfPieces(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { size }) => sum + size, 0);
}

function pieceOfTool(tool: Tool): Piece {
  const { name, source } = tool;
  const kind = source === 'mcp' ? mcpTool : 'tool';
  return { kind, id: `tool:${name}`, label: name, size: sizeOfTools([tool]) };
}

const mcpTool = 'mcpTool';

/** What users said, what the agent answered, and the results of each tool. */
function piecesOfMessages(messages: readonly HistoryEntry[]): readonly Piece[] {
  const names = new Map<string, string>();
  const pieces = new Map<string, Piece>();
  for (const entry of messages) {
    if (entry.role === 'assistant') for (const { callId, name } of entry.toolCalls) names.set(callId, name);
    const tool = entry.role === 'tool' ? (names.get(entry.callId) ?? 'tool') : undefined;
    const id = tool === undefined ? `messages:${entry.role}` : `results:${tool}`;
    const known = pieces.get(id) ?? {
      kind: tool === undefined ? 'messages' : 'results',
      id,
      label: tool === undefined ? labels[entry.role] : `Results of ${tool}`,
      size: 0,
    };
    pieces.set(id, { ...known, size: known.size + sizeOf(entry) });
  }
  return [...pieces.values()];
}

const labels = { user: 'Prompts', assistant: 'Answers and calls', tool: 'Results' };

function labelOf(entry: HistoryEntry): string {
  if (entry.role === 'user')
    return entry.parts
      .map((part) => (part.type === 'text' ? part.text.replace(when, '') : `[${part.type}]`))
      .join(' ');
  if (entry.role === 'tool' || entry.text !== '') return entry.text;
  return entry.toolCalls.map(({ name, argumentsText }) => `${name} ${argumentsText}`).join(', ');
}

/** A prompt is recognised by its own text, not by what the runtime puts before it. */
const when = /^<current_datetime>[^<]*<\/current_datetime>\s*/;
