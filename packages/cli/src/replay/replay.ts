import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { channelPair } from '@groundcrew/rpc';
import { builtinTools } from '@groundcrew/runtime';
import { Client, type ReasoningEffort, RuntimeConnection } from '@groundcrew/sdk';
import { compose } from '../compose.js';
import { type Difference, EventComparison } from './event-comparison.js';
import { PlaybackInputs } from './playback-inputs.js';
import { playbackModel } from './playback-model.js';
import { playbackClientTools, playbackDecisions, playbackTools } from './playback-tools.js';
import type { Recording } from './recording.js';

/** What came of a replay. */
export interface ReplayResult {
  /** How many events happened again as they were recorded. */
  readonly agreed: number;
  readonly difference?: Difference;
}

/** How a replay is bounded. */
export interface ReplayOptions {
  readonly version: string;
  /** Milliseconds after which a replay that receives nothing more has stopped. */
  readonly patience: number;
}

/** Runs a recorded session again: the same prompts, the recorded answers and results, in a home that is thrown away. */
export async function replaySession(
  recording: Recording,
  options: ReplayOptions,
  signal: AbortSignal,
): Promise<ReplayResult> {
  const home = mkdtempSync(join(tmpdir(), 'groundcrew-replay-'));
  try {
    return await replayIn(home, { recording, ...options }, signal);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function replayIn(
  home: string,
  { recording, version, patience }: ReplayOptions & { readonly recording: Recording },
  signal: AbortSignal,
): Promise<ReplayResult> {
  const stopping = new AbortController();
  signal.addEventListener('abort', () => stopping.abort(), { once: true });
  const recorded = recording.start.context?.cwd ?? '';
  const workingDirectory = existsSync(recorded) ? recorded : emptyDirectory(home);
  const comparison = new EventComparison(recording.events, {
    mayGoOn: recording.endsOpen,
    directories: [...new Set([recorded || workingDirectory, workingDirectory])],
    onDifference: () => stopping.abort(),
  });
  const inputs = new PlaybackInputs(recording, comparison);
  const { client, close } = openPlayback(home, { recording, inputs, version });
  const quiet = setTimeout(() => stopping.abort(), patience);
  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  void stopped.then(() => comparison.stop());
  try {
    const { selectedModel, reasoningEffort } = recording.start;
    const session = await client.createSession({
      workingDirectory,
      ...(selectedModel !== undefined && { model: selectedModel }),
      ...(reasoningEffort && { reasoningEffort: reasoningEffort as ReasoningEffort }), // as it was accepted then
      tools: [...playbackClientTools(recording, builtinNames(), inputs)],
      onPermissionRequest: playbackDecisions(recording, inputs),
      onAutoModeSwitchRequest: () => inputs.switchAnswer,
      onUserInputRequest: () => Promise.reject(new Error('The recorded answer is played back')),
      onEvent: (event) => {
        quiet.refresh();
        inputs.receive(event);
      },
    });
    await Promise.race([inputs.play(session), stopped]);
  } finally {
    clearTimeout(quiet);
    stopping.abort();
    await close();
  }
  comparison.end();
  const { agreed, difference } = comparison;
  return { agreed, ...(difference && { difference }) };
}

/** A client of a runtime whose model and tools only repeat themselves. */
function openPlayback(
  home: string,
  {
    recording,
    inputs,
    version,
  }: { readonly recording: Recording; readonly inputs: PlaybackInputs; readonly version: string },
): { readonly client: Client; close(): Promise<void> } {
  const model = playbackModel(recording.outcomes, { defaultModel: modelOf(recording), stage: inputs });
  const program = compose({
    version,
    homeDirectory: home,
    workingDirectory: home,
    environment: { PATH: process.env.PATH, HOME: home },
    sessionIdleSeconds: 0,
    warn: () => undefined,
    onShutdown: () => undefined,
    playback: {
      openModels: async () => model,
      builtinTools: playbackTools(builtinTools(noWeb), recording, inputs),
    },
  });
  const client = new Client({
    connection: RuntimeConnection.forChannel(() => {
      const [ours, theirs] = channelPair();
      void program.server.serve(theirs);
      return ours;
    }),
    // A call that was not finished then is cut off now.
    onHandlerError: () => undefined,
  });
  const close = async () => {
    await client.forceStop();
    await program.close();
  };
  return { client, close };
}

const noWeb = { webFetch: { allowedHosts: [] } };

function builtinNames(): ReadonlySet<string> {
  const all = builtinTools(noWeb)({
    reportsIntent: true,
    answersQuestions: true,
    answersPlans: true,
    mode: 'plan',
  });
  return new Set(all.map(({ name }) => name));
}

function modelOf({ start, events }: Recording): string {
  const first = events.find((event) => event.type === 'session.model_change');
  const { previousModel, newModel } = first?.type === 'session.model_change' ? first.data : {};
  // A client that chose another model before the first prompt chose it in place of the service's own.
  const named = previousModel ?? newModel;
  return start.selectedModel ?? named ?? 'recorded';
}

function emptyDirectory(home: string): string {
  const path = join(home, 'work');
  mkdirSync(path);
  return path;
}
