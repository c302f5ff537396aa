import type { Transcript, TranscriptAgent, TranscriptItem } from '@groundcrew/sdk';
import { clean } from '../text/clean.js';
import { callText } from './tool-lines.js';

/** A conversation as Markdown. What sub-agents did stands below the call that started them. */
export function markdownOf(transcript: Transcript): string {
  const title = `# ${clean(transcript.title ?? 'Conversation').replaceAll('\n', ' ')}`;
  return `${[title, ...agentParts(transcript.main, transcript)].join('\n\n')}\n`;
}

function agentParts(agent: TranscriptAgent, transcript: Transcript): readonly string[] {
  return agent.items.flatMap((item) => [
    ...itemParts(item),
    ...transcript.agents
      .filter(({ toolCallId }) => item.type === 'tool' && toolCallId === item.id)
      .flatMap((child) => agentParts(child, transcript).map((part) => part.replace(/^/gm, '> '))),
  ]);
}

function itemParts(item: TranscriptItem): readonly string[] {
  switch (item.type) {
    case 'prompt':
      return ['## User', clean(item.text)];
    case 'message':
      return item.text.trim() === '' ? [] : ['## Agent', clean(item.text)];
    case 'notice':
      return [`*${item.level}: ${clean(item.text).replaceAll('\n', ' ')}*`];
    case 'tool': {
      const result = item.state === 'failed' ? item.error : (item.details ?? item.output);
      const name = item.details === undefined ? '' : 'diff';
      return [`**${callText(item)}** (${item.state})`, ...(result ? [fenced(clean(result), name)] : [])];
    }
  }
}

/** A fence that nothing inside can close. */
function fenced(text: string, name: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${name}\n${text.replace(/^\n+|\n+$/g, '')}\n${fence}`;
}
