import type { Methods, ParsedParams } from '@groundcrew/protocol';
import type { Runtime } from '@groundcrew/runtime';
import { Refusal } from './failure.js';

type ResumeParams = ParsedParams<Methods['session.resume']>;

/** What an observer may say of how it receives events; all else would change the session. */
const kept: ReadonlySet<string> = new Set(['sessionId', 'includeSubAgentStreamingEvents']);

/** Fields that ask for nothing unless they are true or have something in them. */
function asks(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** The request as an observer may make it, and a warning for what is left out. */
export function observed(params: ResumeParams): {
  readonly params: ResumeParams;
  readonly warnings: readonly string[];
} {
  const entries = Object.entries(params);
  const ignored = entries.filter(([name, value]) => !kept.has(name) && asks(value)).map(([name]) => name);
  return {
    params: {
      ...(Object.fromEntries(entries.filter(([name]) => kept.has(name))) as ResumeParams),
      disableResume: true,
    },
    warnings: ignored.map((name) => `The option '${name}' has no effect: this client is an observer.`),
  };
}

/** Throws where opening the session would change it: its pending work would be ended or taken up. */
export async function requireUnchanged(runtime: Runtime, sessionId: string): Promise<void> {
  if (runtime.find(sessionId)) return;
  const [found] = await runtime.list({ sessionId, includeEmpty: true });
  if (found?.head.hasWork)
    throw new Refusal(
      `The session ${sessionId} has pending work and is not open: a member has to resume it before it can be observed.`,
    );
}
