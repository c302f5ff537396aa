import type { Transcript, TranscriptAgent, TranscriptItem } from '@groundcrew/sdk';
import { describeNotice, describeTool } from '../terminal/describe.js';
import { harmless, visible } from '../terminal/visible.js';

/** A conversation as lines. What sub-agents did stands below the call that started them. */
export function transcriptLines(transcript: Transcript): readonly string[] {
  return agentLines(transcript.main, transcript);
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
      .filter(({ toolCallId }) => item.type === 'tool' && toolCallId === item.id)
      .flatMap((child) => agentLines(child, transcript).map((line) => line.replaceAll(/^/gm, '  '))),
  ]);
}
