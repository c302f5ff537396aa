import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A client in a process of its own that pings a runtime at a steady pace. */
export class Neighbour {
  private constructor(private readonly process: ChildProcess) {}

  /** Of the runtime that listens on this port and has this process id. */
  static async of(port: number, pid: number): Promise<Neighbour> {
    const program = fileURLToPath(new URL('neighbour-process.mjs', import.meta.url));
    const process = fork(program, [`${port}`, `${pace}`, `${pid}`], { execArgv: [] });
    await once(process, 'message');
    return new Neighbour(process);
  }

  start(): void {
    this.process.send('start');
  }

  /** How long each ping took since the start, in milliseconds. */
  async stop(): Promise<readonly number[]> {
    this.process.send('stop');
    const [took] = (await once(this.process, 'message')) as [number[]]; // all it ever sends after its first word
    return took;
  }

  leave(): void {
    this.process.disconnect();
  }
}

/** Milliseconds between two pings. */
const pace = 4;
