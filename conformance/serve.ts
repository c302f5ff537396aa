import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openHttpDoor } from '@groundcrew/http-door';
import { mcpOverHttp } from '@groundcrew/mcp-server';
import { RuntimeProcess, temporaryDirectory } from '@groundcrew/testkit';
import { fixtureServer } from './fixture-server.js';

/** A server that the suite may examine. */
export interface Examined {
  readonly url: string;
  close(): Promise<void>;
}

/** The program's own server code with the tools that scenarios ask for; the suite shows no token. */
export async function serveFixtures(): Promise<Examined> {
  const web = mcpOverHttp(fixtureServer);
  const door = await openHttpDoor({
    token: undefined,
    routes: { '/mcp': { answer: (request) => web.answer(request) } },
    onFailure: (error) => console.error(error),
  });
  const close = async () => {
    await door.close();
    await web.close();
  };
  return { url: `${door.url}/mcp`, close };
}

/** `groundcrew mcp serve` itself, behind a pass that shows its token and changes nothing else. */
export async function serveProgram(): Promise<Examined> {
  const home = temporaryDirectory();
  const token = randomUUID();
  const flags = ['mcp', 'serve', '--http'];
  const program = new RuntimeProcess({ flags, home: home.path, environment: { GROUNDCREW_TOKEN: token } });
  while (!/listening at/.test(program.stdout)) await new Promise((done) => setTimeout(done, 20));
  const target = new URL(/listening at (\S+)/.exec(program.stdout)?.[1] ?? '');
  const pass = createServer((incoming, outgoing) => {
    const { port } = pass.address() as AddressInfo;
    const own = new RegExp(`:${port}$`);
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    // The pass has another port: names that mean it mean the program.
    for (const name of ['host', 'origin'] as const) {
      const value = headers[name];
      if (value) headers[name] = value.replace(own, `:${target.port}`);
    }
    const { method, url: path } = incoming;
    const sent = httpRequest(
      { host: target.hostname, port: target.port, method, path, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    sent.on('error', () => outgoing.destroy());
    outgoing.on('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  pass.listen(0, '127.0.0.1');
  await once(pass, 'listening');
  const close = async () => {
    pass.closeAllConnections();
    pass.close();
    await program.stop();
    home.remove();
  };
  return { url: `http://127.0.0.1:${(pass.address() as AddressInfo).port}/mcp`, close };
}
