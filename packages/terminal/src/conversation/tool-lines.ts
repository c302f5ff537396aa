import { type Transcript, type TranscriptAgent, type TranscriptTool, toolSubject } from '@groundcrew/sdk';
import { cleanLine, cleanLines } from '../text/clean.js';
import { diffCounts, diffLines, indented, isDiff } from '../text/diff.js';
import { type Line, line, type Style, span } from '../text/span.js';

/** Lines of which only the first are shown, and all of them on request. */
export interface Folded {
  readonly title: string;
  readonly lines: readonly Line[];
}

/** Something finished, as lines, and what was left out of them. */
export interface Shown {
  readonly lines: readonly Line[];
  readonly folded?: Folded;
}

const mostOutput = 6;
const mostDiff = 40;
const mostLive = 4;
const mostCalls = 8;

/** A call that has ended: what it was, what came of it, and what its agents did. */
export function toolLines(tool: TranscriptTool, transcript: Transcript): Shown {
  const agents = agentTree(tool.id, transcript, { isLive: false });
  const head = [headOf(tool), ...indented(agents)];
  const body = bodyOf(tool);
  if (body.length === 0) return { lines: head };
  const most = isDiff(tool.details ?? '') ? mostDiff : mostOutput;
  if (body.length <= most + 1) return { lines: [...head, ...indented(body)] };
  const more = line(`… ${body.length - most} more lines (Ctrl-O shows them)`, 'dim');
  return {
    lines: [...head, ...indented([...body.slice(0, most), more])],
    folded: { title: callText(tool), lines: body },
  };
}

/** A call that runs: its latest lines. */
export function runningLines(tool: TranscriptTool, transcript: Transcript): readonly Line[] {
  const agents = agentTree(tool.id, transcript, { isLive: true });
  const output = cleanLines((tool.output ?? '').replace(/\n+$/, '')).filter((text) => text !== '');
  const progress = tool.progress === undefined ? [] : [line(cleanLine(tool.progress), 'dim')];
  const hidden = output.length - mostLive;
  return [
    headOf(tool),
    ...indented(agents),
    ...indented(hidden > 0 ? [line(`… ${hidden} lines above`, 'dim')] : []),
    ...indented(output.slice(-mostLive).map((text) => line(text, 'dim'))),
    ...indented(progress),
  ];
}

/** The name of a call and what it is about, on one line. */
export function callText(tool: TranscriptTool): string {
  return cleanLine(`${tool.name} ${toolSubject(tool)}`.trim());
}

function headOf(tool: TranscriptTool): Line {
  const { sign, style } = states[tool.state];
  const { name } = tool;
  const text = callText(tool);
  const counts = tool.details !== undefined && isDiff(tool.details) ? diffCounts(tool.details) : '';
  return [
    span(`${sign} `, style),
    span(cleanLine(name), 'bold'),
    span(shortened(text.slice(cleanLine(name).length), 300)),
    span(counts, 'dim'),
    ...(tool.state === 'interrupted' ? [span(' interrupted', 'warning')] : []),
  ];
}

const states: Readonly<Record<TranscriptTool['state'], { readonly sign: string; readonly style: Style }>> = {
  running: { sign: '◐', style: 'accent' },
  succeeded: { sign: '●', style: 'good' },
  failed: { sign: '✖', style: 'bad' },
  interrupted: { sign: '○', style: 'warning' },
};

function bodyOf({ state, error, output, details }: TranscriptTool): readonly Line[] {
  if (state === 'failed') return cleanLines(error ?? '').map((text) => line(text, 'bad'));
  if (details !== undefined && isDiff(details)) return diffLines(details);
  const text = (output ?? '').replace(/^\n+|\s+$/g, '');
  return text === '' ? [] : cleanLines(text).map((each) => line(each, 'dim'));
}

/** The agents that a call has started, and theirs, as a tree. */
function agentTree(
  callId: string,
  transcript: Transcript,
  options: { readonly isLive: boolean },
): readonly Line[] {
  const agents = transcript.agents.filter(({ toolCallId }) => toolCallId === callId);
  return agents.flatMap((agent, index) => {
    const isLast = index === agents.length - 1;
    const children = agentChildren(agent, transcript, options);
    const bar = isLast ? '   ' : '│  ';
    return [
      [span(isLast ? '└─ ' : '├─ ', 'dim'), ...agentLine(agent)],
      ...children.map((each) => [span(bar, 'dim'), ...each]),
    ];
  });
}

function agentChildren(
  agent: TranscriptAgent,
  transcript: Transcript,
  options: { readonly isLive: boolean },
): readonly Line[] {
  const calls = agent.items.filter((item) => item.type === 'tool');
  const shown = options.isLive ? calls.slice(-2) : calls.slice(0, mostCalls);
  const hidden = calls.length - shown.length;
  return [
    ...shown.flatMap((tool) => [headOf(tool), ...agentTree(tool.id, transcript, options)]),
    ...(hidden > 0 ? [line(`… ${hidden} more calls`, 'dim')] : []),
  ];
}

/** One agent: its name, what became of it, how much it did. */
export function agentLine(agent: TranscriptAgent): Line {
  const name = cleanLine(agent.displayName ?? agent.name ?? agent.id ?? 'agent');
  const calls = agent.items.filter(({ type }) => type === 'tool').length;
  const looks: Readonly<Record<TranscriptAgent['state'], Style>> = {
    running: 'accent',
    completed: 'good',
    failed: 'bad',
    interrupted: 'warning',
  };
  const why = agent.error === undefined ? '' : `: ${cleanLine(agent.error)}`;
  return [
    span(name, 'bold'),
    span(` ${agent.state}${why}`, looks[agent.state]),
    span(` · ${calls} ${calls === 1 ? 'call' : 'calls'}`, 'dim'),
  ];
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
