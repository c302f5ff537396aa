import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { type RuleModel, RuntimeProcess } from '@groundcrew/testkit';

/** A home, and the model that its sessions talk to. */
export interface Place {
  readonly home: string;
  readonly model: RuleModel;
}

interface LiveRuntime {
  readonly client: Client;
  readonly pid: number;
  readonly port: number;
}

/** Does something with a runtime of its own. */
export async function withRuntime<T>(home: string, work: (runtime: LiveRuntime) => Promise<T>): Promise<T> {
  const runtime = new RuntimeProcess({ flags: ['--headless', '--port', '0'], home, workingDirectory: home });
  const port = await runtime.port();
  const client = new Client({ connection: RuntimeConnection.forUri(`127.0.0.1:${port}`) });
  try {
    await client.start();
    return await work({ client, pid: runtime.pid, port });
  } finally {
    await client.stop();
    await runtime.signal('SIGTERM');
  }
}
