import type { ClusterStore, Owner, SharedPlace } from '@groundcrew/store';
import type { DayUse } from '@groundcrew/tenants';

/** What a meter needs. */
export interface SharedMeterParts {
  readonly owner: Owner;
  cluster(): Promise<Pick<ClusterStore, 'quotas'>>;
  warn(message: string): void;
}

/** What a tenant uses at all nodes together, kept in the database of its sessions. */
export class SharedMeter {
  /** The total of this process for the day. */
  private own: DayUse = { day: '', tokens: 0, cost: 0 };
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly parts: SharedMeterParts) {}

  async used(): Promise<DayUse> {
    return (await this.parts.cluster()).quotas.used();
  }

  /** Resolves when other nodes count it too. What cannot be written now is written with what follows. */
  async add({ day, tokens, cost }: DayUse): Promise<void> {
    const before = this.own.day === day ? this.own : { day, tokens: 0, cost: 0 };
    this.own = { day, tokens: before.tokens + tokens, cost: before.cost + cost };
    const all = this.own;
    this.writing = this.writing.then(async () => {
      try {
        await (await this.parts.cluster()).quotas.use(this.parts.owner, all);
      } catch (error) {
        this.parts.warn(`What model calls took is not counted yet: ${(error as Error).message}`);
      }
    });
    await this.writing;
  }

  /** Takes a place if fewer than `most` are taken: how many others there are, and what gives it back. */
  async take(
    { kind, sessionId }: Omit<SharedPlace, 'owner'>,
    most: number,
  ): Promise<{ readonly others: number; readonly leave?: () => void }> {
    const { quotas } = await this.parts.cluster();
    const place = { kind, sessionId, owner: this.parts.owner };
    const { isTaken, others } = await quotas.take(place, most);
    if (!isTaken) return { others };
    const leave = () =>
      void quotas
        .leave(place)
        .catch((error: Error) =>
          this.parts.warn(`A place of a quota is taken until this process ends: ${error.message}`),
        );
    return { others, leave };
  }
}
