import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PublishedClient } from './client.js';

/** The steps of the scenario, in the order of the table. */
export const steps = [
  'load',
  'start',
  'create',
  'send',
  'streaming',
  'tool',
  'approve',
  'command',
  'deny',
  'hooks',
  'input',
  'abort',
  'history',
  'list',
  'resume',
  'delete',
  'stop',
] as const;

/** One step of one client; `absent` when the client does not have it. */
export interface StepResult {
  readonly step: string;
  readonly outcome: 'ok' | 'failed' | 'absent';
  readonly message?: string;
}

/** How one client fared. */
export interface ClientResult {
  readonly client: Pick<PublishedClient, 'registry' | 'version' | 'environment'>;
  readonly results: readonly StepResult[];
  /** The first step that failed, and what it said. */
  readonly failure?: string;
}

const limit = 240_000;

/** Plays the scenario with one client, in a home and a working directory of its own. */
export async function runClient(client: PublishedClient, runtime: string): Promise<ClientResult> {
  const place = mkdtempSync(join(tmpdir(), 'groundcrew-compat-'));
  const [home, work] = [join(place, 'home'), join(place, 'work')];
  for (const directory of [home, work]) mkdirSync(directory);
  try {
    const { output, problem } = await play(client, { runtime, home, work });
    const results = output
      .split('\n')
      .filter((line) => line.startsWith('{"step"'))
      .map((line) => JSON.parse(line) as StepResult);
    const failed = results.find(({ outcome }) => outcome === 'failed');
    const failure = failed ? `${failed.step}: ${failed.message}` : problem;
    return { client, results, ...(failure !== undefined && { failure: firstLine(withoutPlaces(failure)) }) };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

interface Played {
  readonly output: string;
  /** What ended the scenario before its last step. */
  readonly problem?: string;
}

function play(client: PublishedClient, place: Parameters<PublishedClient['command']>[0]): Promise<Played> {
  const [program, ...args] = client.command(place);
  const { PATH } = process.env;
  const env = { PATH, HOME: place.home, ...client.environment };
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd: place.work, timeout: limit }, (error, stdout, stderr) => {
      const words = stderr.trim() || error?.message;
      resolve({ output: stdout, ...(error && words && { problem: words }) });
    });
  });
}

/** Where clients are installed is of no interest, and another place on every machine. */
function withoutPlaces(text: string): string {
  return text.replace(/(?:\/[\w.@-]+)+\/(?=node_modules\/|copilot\/)/g, '…/');
}

function firstLine(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
