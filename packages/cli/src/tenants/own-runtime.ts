import type { KeyHold } from '@groundcrew/models';
import type { Program } from '../compose.js';
import { OrphanWatch } from './orphan-watch.js';
import { SharedMeter } from './shared-meter.js';
import type { TenantRuntimes } from './tenant-runtimes.js';

/** The operator's own runtime, as the runtimes of tenants need it. */
export type OwnProgram = Pick<Program, 'holdKey' | 'shared' | 'isNode'>;

interface OwnRuntimeParts {
  readonly runtimes: Pick<TenantRuntimes, 'has' | 'wake' | 'hold' | 'drain'>;
  /** How schemas of tenants begin, where their sessions are in PostgreSQL. */
  readonly schemaPrefix: string | undefined;
  warn(message: string): void;
}

/** Connects the operator's own runtime with those of the tenants: held keys, quotas, work without a node, draining. */
export class OwnRuntime {
  private program: OwnProgram | undefined;
  private watch: OrphanWatch | undefined;
  /** What the operator's own tenant uses at all nodes. */
  meter: SharedMeter | undefined;

  constructor(private readonly parts: OwnRuntimeParts) {}

  join(program: OwnProgram): void {
    const { runtimes, schemaPrefix: prefix, warn } = this.parts;
    const { shared } = program;
    this.program = program;
    if (!shared) return;
    this.meter = new SharedMeter({ ...shared, warn });
    if (prefix === undefined || !program.isNode) return;
    this.watch = new OrphanWatch({
      prefix,
      cluster: shared.cluster,
      isHere: (tenant) => runtimes.has(tenant),
      wake: (tenant) => runtimes.wake([tenant]),
      warn,
    });
  }

  /** A model service has refused a call: of a tenant, or of the operator's own runtime. */
  hold(held: KeyHold, tenant?: string): void {
    this.parts.runtimes.hold(held, tenant);
    if (tenant !== undefined) this.program?.holdKey(held);
  }

  /** Hands the sessions of all tenants over to other nodes. */
  async drain(milliseconds: number): Promise<void> {
    await this.watch?.close();
    await this.parts.runtimes.drain(milliseconds);
  }

  async close(): Promise<void> {
    await this.watch?.close();
  }
}
