import type { SessionState } from '../log/state.js';

/** What is known of a session's workspace, under the names that clients know. */
export function workspaceFacts(sessionId: string, state: SessionState, clientName: string) {
  const { cwd, gitRoot, repository, branch } = state.context;
  const name = state.fixed.name ?? state.summary;
  return {
    id: sessionId,
    cwd,
    ...(gitRoot !== undefined && { git_root: gitRoot }),
    ...(repository !== undefined && { repository }),
    ...(branch !== undefined && { branch }),
    ...(name !== undefined && { name }),
    client_name: clientName,
    user_named: state.fixed.isNamedByUser ?? false,
    created_at: state.createdAt,
    updated_at: state.modifiedAt,
  };
}

/** The same as a file of YAML: one line each. */
export function yamlOf(facts: Readonly<Record<string, string | boolean>>): string {
  const lines = Object.entries(facts).map(([name, value]) => `${name}: ${scalar(value)}\n`);
  return lines.join('');
}

/** Bare where YAML takes it for the same text, else in the quotes of JSON. */
function scalar(value: string | boolean): string {
  if (typeof value === 'boolean') return String(value);
  const isBare = /^[\w/][\w./+@-]*$/.test(value) && !otherKinds.test(value);
  return isBare || /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? value : JSON.stringify(value);
}

/** What YAML takes for something else than text: numbers, dates, yes and no. */
const otherKinds = /^(true|false|null|yes|no|on|off|y|n|[\d._+-]+(e[\d+-]*)?|0[xo][\da-f]+)$/i;
