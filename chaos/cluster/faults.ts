import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../random.js';
import type { Player } from './player.js';
import type { Node, World } from './world.js';

/** How long a node is cut off or stopped: twice a lease. */
const away = 10_000;

/** What a fault may be done to. */
export interface Scene {
  readonly world: World;
  readonly players: readonly Player[];
  readonly random: Random;
  /** The node that owns most sessions, so that something happens. */
  victim(): Promise<Node>;
  /** Measures how long it takes from now until the work of a node is taken over. */
  takenOver(node: Node): Promise<void>;
}

/** Something that goes wrong, and comes right again. */
export type Fault = (scene: Scene) => Promise<void>;

/** Every fault by its name. */
export const faults: Readonly<Record<string, Fault>> = {
  kill: async ({ world, victim, takenOver }) => {
    const node = await victim();
    node.isUp = false;
    node.process.kill('SIGKILL');
    await takenOver(node);
    await world.start();
  },
  stop: async ({ victim, takenOver }) => {
    const node = await victim();
    node.isUp = false;
    node.process.kill('SIGSTOP');
    await Promise.all([pause(away), takenOver(node)]);
    node.process.kill('SIGCONT');
    node.isUp = true;
  },
  'cut from PostgreSQL': async ({ victim, takenOver }) => {
    const node = await victim();
    node.toPostgres.cut();
    await Promise.all([pause(away), takenOver(node)]);
    node.toPostgres.mend();
  },
  'cut from NATS': async ({ victim }) => {
    const node = await victim();
    node.toNats.cut();
    await pause(away);
    node.toNats.mend();
  },
  'cut from both': async ({ victim, takenOver }) => {
    const node = await victim();
    node.toPostgres.cut();
    node.toNats.cut();
    await Promise.all([pause(away), takenOver(node)]);
    node.toPostgres.mend();
    node.toNats.mend();
  },
  'kill NATS': async ({ world }) => {
    await world.nats.kill();
    await pause(4_000);
    await world.nats.start();
  },
  'clients hop': async ({ players, random }) => {
    for (let count = 0; count < 8; count += 1) {
      await players[random.upTo(players.length) - 1]?.hop();
      await pause(random.upTo(300));
    }
  },
  drain: async ({ world, victim }) => {
    const node = await victim();
    node.isUp = false;
    node.process.kill('SIGTERM');
    await pause(3_000);
    await world.start();
  },
  failover: async ({ world }) => {
    await world.postgres.kill();
    await pause(1_000);
    await world.standby?.promote();
  },
};
