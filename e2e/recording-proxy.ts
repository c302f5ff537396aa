import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Passes calls on to a model service and keeps the bytes of each body. */
export class RecordingProxy {
  private constructor(
    readonly baseUrl: string,
    readonly bodies: readonly Buffer[],
    private readonly server: Server,
  ) {}

  /** `before`: what a call waits for, by its body. */
  static async open(
    target: string,
    before: (body: string) => Promise<void> | undefined = () => undefined,
  ): Promise<RecordingProxy> {
    const bodies: Buffer[] = [];
    const server = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', async () => {
        const body = Buffer.concat(chunks);
        await before(String(body));
        if (incoming.method === 'POST') bodies.push(body);
        const url = new URL(target + (incoming.url ?? ''));
        const { method, headers } = incoming;
        const call = request(url, { method, headers: { ...headers, host: url.host } }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        });
        call.on('error', () => outgoing.destroy());
        call.end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return new RecordingProxy(`http://127.0.0.1:${port}`, bodies, server);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
