import type { Environment } from '@groundcrew/models';
import { UsageError } from '../flags/arguments.js';
import { type Flag, textFlag } from '../flags/flags.js';

/** Names the NATS by which nodes reach one another. */
export const natsFlag = textFlag(
  '--nats',
  'URL',
  'one of several nodes: where NATS is; needs --store postgres://…',
);

/** Says what this node has. */
export const labelFlag: Flag<readonly string[]> = {
  names: ['--label'],
  placeholder: 'TEXT',
  help: 'what this node has that sessions may need, such as a shared volume; may be repeated',
  read: (text, name) => readLabels(text, name),
  join: (before, more) => [...before, ...more],
};

/** How this runtime is one of several nodes. */
export interface ClusterChoice {
  /** The address of NATS. */
  readonly nats: string;
  /** What this node has that sessions may need. */
  readonly labels: readonly string[];
}

/** Where a cluster may be named. */
export interface ClusterChoiceOptions {
  readonly nats?: string;
  readonly labels?: readonly string[];
  readonly environment: Environment;
  /** The PostgreSQL that keeps all sessions. */
  readonly store: string | undefined;
}

/** Whether this runtime is one of several nodes, by the command line or the environment. Throws UsageError. */
export async function chooseCluster(options: ClusterChoiceOptions): Promise<ClusterChoice | undefined> {
  const { GROUNDCREW_NATS, GROUNDCREW_LABELS } = options.environment;
  const nats = options.nats ?? (GROUNDCREW_NATS || undefined);
  const given = GROUNDCREW_LABELS ? readLabels(GROUNDCREW_LABELS, 'GROUNDCREW_LABELS') : undefined;
  const labels = options.labels ?? given;
  const place = options.nats === undefined ? 'GROUNDCREW_NATS' : '--nats';
  if (nats === undefined) {
    if (labels) throw new UsageError('Labels are for one of several nodes: --label needs --nats');
    return undefined;
  }
  if (options.store === undefined)
    throw new UsageError(`${place} needs a store that nodes share: --store postgres://…`);
  const { BadBusAddress, readBusAddress } = await import('@groundcrew/cluster');
  try {
    readBusAddress(nats);
  } catch (error) {
    throw error instanceof BadBusAddress ? new UsageError(`${place}: ${error.message}`) : error;
  }
  return { nats, labels: labels ?? [] };
}

function readLabels(text: string, place: string): readonly string[] {
  const labels = text.split(',').map((label) => label.trim());
  if (labels.some((label) => !/^[\w.:/=@-]{1,200}$/.test(label)))
    throw new UsageError(`${place} needs words without spaces, separated by commas`);
  return labels;
}
