import type { RuntimeOptions, Tool, ToolResult } from '@groundcrew/runtime';
import type { Tool as ClientTool, PermissionHandler, PermissionRequestResult } from '@groundcrew/sdk';
import { entryOf } from '../flags/arguments.js';
import { aborted } from './playback-model.js';
import type { RecordedCall, RecordedQuestion, Recording } from './recording.js';

/** What played-back tools need of the replay around them. */
export interface ToolStage {
  /** Resolves when what is at this place of the recording may happen. */
  reached(place: number): Promise<void>;
  /** Called for a call that was not finished: if the turn was stopped then, it is stopped. */
  unfinished(): void;
}

/** The built-in tools with their descriptions, and with the results they had then: none of them does anything. */
export function playbackTools(
  builtin: RuntimeOptions['builtinTools'],
  { calls }: Recording,
  stage: ToolStage,
): RuntimeOptions['builtinTools'] {
  return (clients) =>
    builtin(clients).map((tool): Tool => {
      const prepare: Tool['prepare'] = (_input, { toolCallId }) => prepared(calls.get(toolCallId), stage);
      return { ...tool, prepare };
    });
}

/** The tools that clients brought then, answered as they were. */
export function playbackClientTools(
  { calls }: Recording,
  builtinNames: ReadonlySet<string>,
  stage: ToolStage,
): readonly ClientTool[] {
  const external = [...calls.values()].filter(({ isExternal }) => isExternal);
  return [...new Set(external.map(({ name }) => name))].map((name) => {
    const asked = external.filter((call) => call.name === name).flatMap(({ questions }) => questions);
    const [first] = asked.map(({ asked: { permissionRequest } }) => permissionRequest);
    return {
      name,
      description: first?.kind === 'custom-tool' ? first.toolDescription : '',
      parameters: { type: 'object' } as const,
      skipPermission: asked.length === 0,
      ...(builtinNames.has(name) && { overridesBuiltInTool: true }),
      handler: async (_args, { toolCallId }, signal) => {
        const end = calls.get(toolCallId)?.end;
        if (!end) return unfinished(stage, signal);
        await stage.reached(end.place - 1);
        return clientResult(end.data);
      },
    };
  });
}

/** Decides as users did then, in the order they did. */
export function playbackDecisions({ calls }: Recording, stage: ToolStage): PermissionHandler {
  const put = new Map<string, number>();
  return async ({ toolCallId = '' }, _invocation, signal) => {
    const times = put.get(toolCallId) ?? 0;
    put.set(toolCallId, times + 1);
    const answer = calls.get(toolCallId)?.questions[times]?.answer;
    if (!answer) return unfinished(stage, signal);
    await stage.reached(answer.place);
    return decisionOf(answer.result);
  };
}

type Ended = NonNullable<RecordedCall['end']>['data'];

function prepared(call: RecordedCall | undefined, stage: ToolStage): ReturnType<Tool['prepare']> {
  const questions = (call?.questions ?? []).map(questionOf);
  return { type: 'run', questions, run: (signal) => played(call, stage, signal) };
}

function questionOf({ asked: { permissionRequest, promptRequest } }: RecordedQuestion) {
  return { request: permissionRequest, ...(promptRequest && { prompt: promptRequest }) };
}

async function played(
  call: RecordedCall | undefined,
  stage: ToolStage,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (!call?.end) return unfinished(stage, signal);
  await stage.reached(call.end.place);
  return resultOf(call.end.data);
}

function unfinished(stage: ToolStage, signal: AbortSignal): Promise<never> {
  stage.unfinished();
  return aborted(signal);
}

function resultOf({ result, error, toolTelemetry }: Ended): ToolResult {
  const telemetry = toolTelemetry as NonNullable<ToolResult['telemetry']>; // JSON, as it was stored
  if (!result) {
    const types = ['failure', 'denied', 'rejected', 'timeout'] as const;
    return {
      type: types.find((type) => type === error?.code) ?? 'failure',
      text: error?.message ?? '',
      telemetry,
    };
  }
  const { content, detailedContent, contents, binaryResultsForLlm } = result as Result;
  return {
    type: 'success',
    text: content,
    telemetry,
    ...(detailedContent !== undefined && { details: detailedContent }),
    ...(contents && { contents }),
    ...(binaryResultsForLlm && { binaries: binaryResultsForLlm }),
  };
}

/** A stored result, in the words of the client that made it. */
interface Result {
  readonly content: string;
  readonly detailedContent?: string;
  readonly contents?: NonNullable<ToolResult['contents']>;
  readonly binaryResultsForLlm?: NonNullable<ToolResult['binaries']>;
}

function clientResult(ended: Ended): object {
  const { type, text, details, contents, binaries, telemetry } = resultOf(ended);
  return {
    textResultForLlm: text,
    resultType: type,
    ...(type !== 'success' && { error: text }),
    ...(details !== undefined && details !== text && { sessionLog: details }),
    ...(contents && { contents }),
    ...(binaries && { binaryResultsForLlm: binaries }),
    ...(telemetry && Object.keys(telemetry).length > 0 && { toolTelemetry: telemetry }),
  };
}

function decisionOf(result: NonNullable<RecordedQuestion['answer']>['result']): PermissionRequestResult {
  const kind = entryOf(decisions, result.kind) ?? result.kind;
  // A decision is sent with all that it had; only its kind has another name.
  return { ...result, kind } as PermissionRequestResult;
}

const decisions: Readonly<Record<string, string>> = {
  approved: 'approve-once',
  'approved-for-session': 'approve-for-session',
  'approved-for-location': 'approve-for-location',
  'denied-interactively-by-user': 'reject',
  'denied-no-approval-rule-and-could-not-request-from-user': 'user-not-available',
};
