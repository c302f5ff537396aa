import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Gate, type Way } from './gate.js';

const run = promisify(execFile);

/** Why nodes cannot have networks of their own here; undefined where they can. */
export function whyNoNetworks(): string | undefined {
  if (process.platform !== 'linux') return 'only Linux has network namespaces';
  const name = `gc-${process.pid}-0`;
  try {
    for (const left of leftBehind()) execFileSync('ip', ['netns', 'del', left], { stdio: 'pipe' });
    execFileSync('ip', ['netns', 'add', name], { stdio: 'pipe' });
    execFileSync('ip', ['netns', 'del', name], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: Buffer };
    return code === 'ENOENT' ? 'there is no ip (iproute2)' : `ip netns: ${stderr?.toString().trim()}`;
  }
}

/** Those of runs that were killed: their addresses would be in the way. */
function leftBehind(): readonly string[] {
  const lines = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' }).split('\n');
  const names = lines.map((line) => line.split(' ')[0] ?? '');
  return names.filter((name) => {
    const [, pid] = /^gc-(\d+)-\d+$/.exec(name) ?? [];
    return pid !== undefined && !existsSync(`/proc/${pid}`);
  });
}

let made = 0;

/** The network of one node: a namespace with a cable of its own to each thing that it needs. */
export class Network {
  private cables = 0;
  private readonly gates: Gate[] = [];
  private readonly number: number;
  private relay: ChildProcess | undefined;

  private constructor() {
    made += 1;
    this.number = made % 250;
  }

  static async open(): Promise<Network> {
    const network = new Network();
    await run('ip', ['netns', 'add', network.name]);
    await run('ip', ['-n', network.name, 'link', 'set', 'lo', 'up']);
    return network;
  }

  /** What a program is started with so that it has this network and no other. */
  get launcher(): readonly string[] {
    return ['ip', 'netns', 'exec', this.name];
  }

  /** A cable to what listens on a port of this machine's loopback; cutting it pulls it out. */
  async cableTo(upstream: number): Promise<Way & { readonly inside: string }> {
    const { inside, outside, device } = await this.cable();
    const gate = await Gate.open(upstream, outside);
    this.gates.push(gate);
    const link = (state: 'up' | 'down') => execFileSync('ip', ['link', 'set', device, state]);
    return {
      inside,
      host: outside,
      port: gate.port,
      cut: () => void link('down'),
      mend: () => void link('up'),
      close: () => gate.close(),
    };
  }

  /**
   * Clients reach the node's port, and the node reaches the model service under the address that it has everywhere, by a cable
   * that is never cut. Resolves with where clients connect.
   */
  async connect({ port, modelPort }: { readonly port: number; readonly modelPort: number }): Promise<string> {
    const { inside, host, port: gate } = await this.cableTo(modelPort);
    const ways = [
      { at: { host: inside, port }, to: { host: '127.0.0.1', port } },
      { at: { host: '127.0.0.1', port: modelPort }, to: { host, port: gate } },
    ];
    const [program = '', ...words] = this.launcher;
    const child = spawn(program, [...words, process.execPath, '-e', relay, JSON.stringify(ways)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.relay = child;
    await once(createInterface({ input: child.stdout }), 'line');
    return inside;
  }

  async close(): Promise<void> {
    this.relay?.kill('SIGKILL');
    for (const gate of this.gates) gate.close();
    await run('ip', ['netns', 'del', this.name]);
  }

  private get name(): string {
    return `gc-${process.pid}-${this.number}`;
  }

  private async cable(): Promise<{
    readonly inside: string;
    readonly outside: string;
    readonly device: string;
  }> {
    const place = this.cables * 4;
    this.cables += 1;
    const device = `gc${process.pid % 100_000}n${this.number}c${this.cables}`;
    const address = (last: number) => `10.213.${this.number}.${place + last}`;
    const [outside, inside] = [address(1), address(2)];
    const peer = `c${this.cables}`;
    await run('ip', ['link', 'add', device, 'type', 'veth', 'peer', 'name', peer, 'netns', this.name]);
    await run('ip', ['addr', 'add', `${outside}/30`, 'dev', device]);
    await run('ip', ['link', 'set', device, 'up']);
    await run('ip', ['-n', this.name, 'addr', 'add', `${inside}/30`, 'dev', peer]);
    await run('ip', ['-n', this.name, 'link', 'set', peer, 'up']);
    return { inside, outside, device };
  }
}

/** Runs inside the namespace, and ends with the process that started it. */
const relay = `
const { connect, createServer } = require('node:net');
const ways = JSON.parse(process.argv[1]);
let open = ways.length;
for (const { at, to } of ways)
  createServer((client) => {
    const server = connect(to);
    for (const [from, other] of [[client, server], [server, client]]) {
      from.setNoDelay(true);
      from.on('error', () => other.destroy());
      from.on('close', () => other.destroy());
      from.pipe(other);
    }
  }).listen(at, () => (open -= 1) === 0 && console.log('open'));
process.stdin.resume().on('end', () => process.exit());
`;
