import type { Transcript, TranscriptAgent, TranscriptItem } from '@groundcrew/sdk';
import { describeAgent, describeNotice, describeTool } from '../terminal/describe.js';
import { harmless, visible } from '../terminal/visible.js';

/** A conversation as lines. What sub-agents did stands below the call that started them. */
export function transcriptLines(transcript: Transcript): readonly string[] {
  const { main, agents } = transcript;
  const calls = new Set(
    [main, ...agents].flatMap(({ items }) =>
      items.flatMap((item) => (item.type === 'tool' ? [item.id] : [])),
    ),
  );
  // Those that a client began stand below no call.
  const others = agents.filter(({ toolCallId }) => toolCallId === undefined || !calls.has(toolCallId));
  return [...agentLines(main, transcript), ...others.flatMap((agent) => childLines(agent, transcript))];
}

/** One entry of a conversation as lines; none for an answer without text. */
export function itemLines(item: TranscriptItem): readonly string[] {
  switch (item.type) {
    case 'prompt':
      return [`> ${harmless(item.text).replaceAll('\n', '\n> ')}`];
    case 'message':
      return item.text === '' ? [] : [harmless(item.text)];
    case 'tool': {
      const failure = item.state === 'failed' ? [visible(`  failed: ${item.error}`)] : [];
      return [visible(describeTool(item)), ...failure];
    }
    case 'notice':
      return [item.level === 'error' ? `error: ${harmless(item.text)}` : visible(describeNotice(item))];
  }
}

function agentLines(agent: TranscriptAgent, transcript: Transcript): readonly string[] {
  return agent.items.flatMap((item) => [
    ...itemLines(item),
    ...transcript.agents
      .filter((child) => item.type === 'tool' && child.toolCallId === item.id && child.parentId === agent.id)
      .flatMap((child) => childLines(child, transcript)),
  ]);
}

/** A sub-agent, how it stands, and below that what it did. */
function childLines(child: TranscriptAgent, transcript: Transcript): readonly string[] {
  const lines = [visible(describeAgent(child)), ...agentLines(child, transcript)];
  return lines.map((line, index) => line.replaceAll(/^/gm, index === 0 ? '  ' : '    '));
}
