import { findNats, type NatsServer, openNats } from '@groundcrew/testkit';
import { type Bus, openBus } from '../src/bus.js';

/** A server for the tests of a file; undefined, with a line that says why, where none is to be had. */
export async function natsForTests(): Promise<NatsServer | undefined> {
  const source = await findNats(process.env);
  if (typeof source !== 'string') return openNats(source);
  process.stdout.write(`NATS tests are skipped: ${source}\n`);
  return undefined;
}

/** A connection to it. */
export function busOf(server: NatsServer): Promise<Bus> {
  return openBus({ url: server.url, onWarning: () => undefined });
}
