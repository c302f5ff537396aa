import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { callTools, liveRuntime, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { commandSession, noPlace, noSandbox, outputs, SandboxWorld } from './sandbox-world.js';

const programFile = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));

const obstacle = noSandbox ?? noPlace;
if (obstacle !== undefined) console.warn(`skipped, all tests of the sandbox: ${obstacle}`);

describe.skipIf(obstacle !== undefined)('a command in the sandbox', () => {
  const world = new SandboxWorld();
  const { work, person, outside } = world;
  const runtime = liveRuntime({
    flags: ['--stdio'],
    environment: { HOME: person, OPENAI_API_KEY: 'the model key', PLAIN: 'plain' },
  });

  /** Runs commands in a session without questions; what they wrote. */
  async function run(commands: readonly string[], params: Readonly<Record<string, unknown>> = {}) {
    const session = await commandSession(runtime, commands, { workingDirectory: work, ...params });
    await session.call('session.permissions.setMode', { mode: 'allow-all' });
    return outputs(await session.turn('Go'));
  }

  const denyRules = (...deny: readonly object[]) =>
    writeFileSync(join(runtime.home.path, 'permissions.json'), JSON.stringify({ deny }));
  const noRules = () => rmSync(join(runtime.home.path, 'permissions.json'), { force: true });

  test('writes in the working directory and nowhere else', async () => {
    const [written] = await run([
      `echo in > in.txt; for place in '${outside}/new' '${outside}/data.txt' ~/new /etc/new /usr/new /var/new; do (echo x > $place) 2>/dev/null && echo wrote $place; done; cat in.txt`,
    ]);
    expect(written).toBe('in\n<exited with exit code 0>');
    expect(readFileSync(join(work, 'in.txt'), 'utf8')).toBe('in\n');
    expect(readdirSync(outside)).toEqual(['data.txt']);
    expect(readFileSync(join(outside, 'data.txt'), 'utf8')).toBe('outside data');
  });

  test('reads what is no secret, and sees no keys', async () => {
    expect(
      await run([
        `cat '${outside}/data.txt' ~/notes.txt; cat ~/.ssh/id_ed25519 ~/.aws/credentials ~/.npmrc ~/.bash_history ~/.huggingface/token ~/.config/stripe/config.toml 2>/dev/null; ls -A ~/.ssh ~/.aws | grep -v :; env | grep -c key`,
      ]),
    ).toEqual(['outside datano secret\n0\n<exited with exit code 1>']);
  });

  test('sees no keys of the system either, not even as root', async () => {
    expect(
      await run([
        'cat /etc/shadow /etc/shadow- /etc/gshadow /etc/ssh/ssh_host_*_key 2>/dev/null | wc -c; ls -A /etc/ssl/private 2>/dev/null | wc -l',
      ]),
    ).toEqual(['0\n0\n<exited with exit code 0>']);
  });

  test('sees of the runtime only what is the session its own', async () => {
    const other = await commandSession(runtime, ['echo theirs'], { workingDirectory: work });
    const path = (session: string) => join(runtime.home.path, 'session-state', session);
    const session = await commandSession(
      runtime,
      [
        `ls -A '${runtime.home.path}' '${join(runtime.home.path, 'session-state')}' | grep -v :; ls '${path(other.sessionId)}' 2>&1 | grep -c 'No such'`,
        'cd "$OWN" 2>/dev/null; true',
      ],
      { workingDirectory: work },
    );
    const own = path(session.sessionId);
    await session.call('session.permissions.setMode', { mode: 'allow-all' });
    expect(outputs(await session.turn('Go'))[0]).toBe(
      `session-state\n\n${session.sessionId}\n1\n<exited with exit code 0>`,
    );
    const [written] = await runIn(
      session,
      `echo '# Plan' > '${own}/plan.md'; echo f > '${own}/files/f.txt'; (echo x > '${own}/session.db') 2>/dev/null || echo no`,
    );
    expect(written).toBe('no\n<exited with exit code 0>');
    expect(await session.call('session.plan.read')).toMatchObject({ exists: true, content: '# Plan\n' });
    expect(readFileSync(join(own, 'files', 'f.txt'), 'utf8')).toBe('f\n');
  });

  /** Runs a command by a user's wish, in the same sandbox. */
  async function runIn(session: Awaited<ReturnType<typeof commandSession>>, command: string) {
    const { output, exitCode } = await session.call<{ output: string; exitCode: number }>(
      'session.shell.executeUserRequested',
      { requestId: 'r', command },
    );
    return [`${output}\n<exited with exit code ${exitCode}>`];
  }

  test('keeps temporary files for the session alone, from one command to the next', async () => {
    const [first, second] = await run([
      'echo kept > /tmp/kept; ls /tmp | grep -v groundcrew-test',
      'cat /tmp/kept "$TMPDIR/kept"',
    ]);
    expect([first, second]).toEqual([
      'kept\n<exited with exit code 0>',
      'kept\nkept\n<exited with exit code 0>',
    ]);
    expect(existsSync('/tmp/kept')).toBe(false);
    expect(await run(['cat /tmp/kept'])).toEqual([expect.stringContaining('No such file')]);
  });

  test('knows no other process: neither their environment nor their memory, and none can be signalled', async () => {
    const { pid } = runtime.process;
    const [seen] = await run([
      `ls -d /proc/[0-9]* | wc -l | awk '{ print ($1 < 12) }'; cat /proc/$PPID/environ /proc/1/environ | wc -c; ls /proc/${pid} 2>&1 | grep -c 'No such'; kill -9 ${pid} 2>&1 | grep -c 'No such'; (echo x > /proc/sys/kernel/core_pattern) 2>/dev/null || echo kept`,
    ]);
    expect(seen).toBe('1\n0\n1\n1\nkept\n<exited with exit code 0>');
    expect(await runtime.client.call('ping')).toMatchObject({ protocolVersion: expect.any(Number) });
  });

  test('leaves nothing running, whatever it forks', async () => {
    const mark = `3141${Date.now() % 100_000}`;
    await run([
      `(setsid sh -c 'env -i setsid sleep ${mark} & env -i nohup sleep ${mark} >/dev/null 2>&1 &' &) ; sleep 0.05; echo left`,
    ]);
    await expect.poll(() => processesWith(mark)).toEqual([]);
  });

  test('dies with the runtime', async () => {
    const mark = `2718${Date.now() % 100_000}`;
    const process = runtime.spawn({ flags: ['--stdio'], environment: { HOME: person } });
    const client = await runtime.connect(process, { hasGaps: true });
    const session = await client.create({ workingDirectory: work, sandbox: 'bwrap' });
    await session.call('session.shell.exec', { command: `setsid sleep ${mark} & sleep ${mark}` });
    await expect.poll(() => processesWith(mark).length).toBeGreaterThan(1);
    await process.signal('SIGKILL');
    await expect.poll(() => processesWith(mark)).toEqual([]);
  });

  test('does not run when the runtime ends while its sandbox is set up', async () => {
    const mark = `1732${Date.now() % 100_000}`;
    // So many places to hide that setting it up takes longer than noticing it.
    const names = Array.from({ length: 120 }, (_, index) => world.file(`work/hide/${index}`, ''));
    const policy = { filesystem: { deniedPaths: names } };
    const process = runtime.spawn({ flags: ['--stdio'], environment: { HOME: person } });
    const client = await runtime.connect(process, { hasGaps: true });
    const sandboxConfig = { enabled: true, userPolicy: policy };
    const session = await client.create({ workingDirectory: work, sandboxConfig });
    const command = `echo ran > ran.txt; sleep ${mark}`;
    const answer = session.call('session.shell.exec', { command }).catch(() => undefined);
    await expect.poll(() => processesWith(mark).length, { interval: 1, timeout: 5000 }).toBe(2);
    await process.signal('SIGKILL');
    await answer;
    await expect.poll(() => processesWith(mark), { timeout: 5000 }).toEqual([]);
    rmSync(join(work, 'hide'), { recursive: true });
    expect(existsSync(join(work, 'ran.txt'))).toBe(false);
  });

  test('leaves no process that the runtime did not yet know of when it ended', async () => {
    const mark = `1734${Date.now() % 100_000}`;
    const process = runtime.spawn({ flags: ['--stdio'], environment: { HOME: person } });
    const client = await runtime.connect(process, { hasGaps: true });
    const session = await client.create({ workingDirectory: work, sandboxConfig: { enabled: true } });
    const answer = session.call('session.shell.exec', { command: `sleep ${mark}` }).catch(() => undefined);
    await expect.poll(() => processesWith(mark).length, { timeout: 5000 }).toBeGreaterThan(2);
    const titles = processesWith(mark).map(
      (pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0],
    );
    const argv0 = titles.find((title) => title?.includes('bwrap')) ?? '';
    // As bubblewrap is in its first moments: no environment, a session of its own, and a parent that will not end it.
    const seconds = `60.${mark}`;
    spawn('/bin/sleep', [seconds], { argv0, env: {}, detached: true, stdio: 'ignore' });
    expect(processesWith(seconds)).toHaveLength(1);
    await process.signal('SIGKILL');
    await answer;
    await expect.poll(() => processesWith(mark), { timeout: 10_000 }).toEqual([]);
  });

  test('cannot mount, unmount, or make namespaces to see what is hidden', async () => {
    const [seen] = await run([
      'umount ~/.ssh 2>/dev/null && echo unmounted; mount --bind / /tmp 2>/dev/null && echo mounted; unshare -Urm sh -c "umount ~/.ssh; cat ~/.ssh/id_ed25519" 2>/dev/null; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status',
    ]);
    expect(seen).toBe('CapEff:\t0000000000000000\nNoNewPrivs:\t1\n<exited with exit code 0>');
  });

  test('reaches sockets without a path only with the network on, and doctor names them', async () => {
    const name = `groundcrew-${process.pid}`;
    const server = createServer((socket) => socket.end('reached')).listen(`\0${name}`);
    await once(server, 'listening');
    const program = `require('net').connect('\\0${name}').on('error', () => console.log('no way')).pipe(process.stdout)`;
    const command = `'${process.execPath}' -e "${program}"`;
    const closed = { sandboxConfig: { enabled: true, userPolicy: { network: { allowOutbound: false } } } };
    const doctor = [programFile, 'doctor', '--check', '--home', runtime.home.path];
    try {
      expect([await run([command]), await run([command], closed)].flat()).toEqual([
        'reached\n<exited with exit code 0>',
        'no way\n<exited with exit code 0>',
      ]);
      expect((await promisify(execFile)(process.execPath, doctor)).stdout).toMatch(
        new RegExp(`can reach sockets without a path of other programs: .*(${name}|and \\d+ more)`),
      );
    } finally {
      server.close();
    }
  });

  test('has no network when the session has none, not even sockets without a name', async () => {
    const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const ask = `(exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>/dev/null || echo unreachable`;
    expect(await run([ask])).toEqual(['reached\n<exited with exit code 0>']);
    const sandboxConfig = { enabled: true, userPolicy: { network: { allowOutbound: false } } };
    expect(await run([ask, 'grep -c @ /proc/net/unix'], { sandboxConfig })).toEqual([
      'unreachable\n<exited with exit code 0>',
      '0\n<exited with exit code 1>',
    ]);
    server.close();
  });

  test('cannot ask programs outside for help by their sockets', async () => {
    const path = join(person, 'agent.sock');
    const server = createServer((socket) => socket.end('reached')).listen(path);
    await new Promise((resolve) => server.once('listening', resolve));
    const node = JSON.stringify(process.execPath);
    const ask = `${node} -e 'require("net").connect(process.env.HOME + "/agent.sock").on("error", (e) => console.log(e.code)).on("data", (d) => console.log(String(d)))'; ls -A /run/docker.sock /run/user 2>/dev/null`;
    const [seen] = await run([ask]);
    server.close();
    expect(seen).toMatch(/^(ECONNREFUSED|EACCES|ENOTSOCK)/);
    expect(seen).not.toContain('reached');
  });

  test('follows links only to what it sees anyway', async () => {
    const [seen] = await run([
      `ln -sfn '${outside}' link; ln -sfn ~/.ssh keys; (echo x > link/new) 2>/dev/null || echo refused; cat keys/id_ed25519 2>/dev/null; mv '${work}' '${work}2' 2>/dev/null || echo stays`,
    ]);
    expect(seen).toBe('refused\nstays\n<exited with exit code 0>');
    expect(readdirSync(outside)).toEqual(['data.txt']);
  });

  test('a link in the place of the session directory is not followed, and nothing is made through it', async () => {
    const session = await commandSession(runtime, ['true'], { workingDirectory: work });
    await session.call('session.permissions.setMode', { mode: 'allow-all' });
    const own = join(runtime.home.path, 'session-state', session.sessionId);
    renameSync(own, `${own}.kept`);
    const target = world.directory('target');
    symlinkSync(target, own);
    const [seen] = await runIn(session, `(echo x > '${own}/plan.md') 2>/dev/null || echo refused`);
    rmSync(own);
    renameSync(`${own}.kept`, own);
    expect(seen).toBe('refused\n<exited with exit code 0>');
    expect(readdirSync(target)).toEqual([]);
  });

  describe('what rules deny', () => {
    test('is hidden by the kernel, however it is asked for', async () => {
      world.file('work/secrets/key.pem', 'a denied key');
      world.file('work/app/.env', 'a denied setting');
      world.file('work/.env', 'another denied setting');
      world.file('outside/.env', 'a denied setting outside');
      denyRules({ path: join(work, 'secrets/key.pem') }, { path: '**/.env' });
      const read = `base=${work}; e=en; for name in secrets/key.$(echo pem) app/.$e'v' .$e'v' ../outside/.$e'v'; do cat "$base/$name" 2>/dev/null; done; echo end`;
      const seen = await run([
        read,
        'mv app moved 2>&1 | grep -c busy; mv secrets moved 2>&1 | grep -c busy; e=en; ln .$e"v" other; cat other 2>/dev/null; echo end',
        'cat moved/* moved/.??? 2>/dev/null; grep -r denied . ; echo end',
      ]);
      noRules();
      expect(seen).toEqual([
        'end\n<exited with exit code 0>',
        expect.stringMatching(/^1\n1\n(ln: .*\n)?end\n<exited with exit code 0>$/),
        expect.stringMatching(/^(grep: .*\n)*end\n<exited with exit code 0>$/),
      ]);
    });

    test('may be denied for writing alone', async () => {
      const kept = world.file('work/kept.txt', 'kept');
      denyRules({ path: kept, access: 'write' });
      const seen = await run([
        "name=kept; cat $name.txt; (echo x > $name.txt) 2>/dev/null || echo ' refused'",
      ]);
      noRules();
      expect(seen).toEqual(['kept refused\n<exited with exit code 0>']);
      expect(readFileSync(kept, 'utf8')).toBe('kept');
    });
  });

  test('is recognised by its receipt', async () => {
    const session = await commandSession(runtime, ['true'], { workingDirectory: work });
    await session.call('session.permissions.setMode', { mode: 'allow-all' });
    await session.send('Go');
    expect((await session.next('tool.execution_complete')).data).toMatchObject({ sandboxed: true });
    await session.next('session.idle');
  });

  test('ends with its session, even one that was to outlive it', async () => {
    const mark = `1618${Date.now() % 100_000}`;
    const command = `sleep ${mark}`;
    const args = { command, description: 'Serve', mode: 'async', detach: true };
    const { session } = await runtime.session(
      [callTools({ id: 'd1', name: 'bash', arguments: args }), say('done')],
      { workingDirectory: work, sandbox: 'bwrap' },
    );
    await session.call('session.permissions.setApproveAll', { enabled: true });
    expect(outputs(await session.turn('Go'))).toEqual([
      expect.stringMatching(
        /^<command started in background with shellId: \d+; it runs in a sandbox and ends with the session>$/,
      ),
    ]);
    await expect.poll(() => processesWith(mark).length).toBeGreaterThan(0);
    await session.call('session.destroy');
    await expect.poll(() => processesWith(mark)).toEqual([]);
  });

  test('has the MCP servers of its session beside it, which write nowhere else and see no keys either', async () => {
    const file = join(outside, 'by-a-server.txt');
    const program = world.file(
      'work/server.mjs',
      `import { writeFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const attempt = (work) => { try { return String(work()); } catch (error) { return error.code; } };
const tries = () => [
  attempt(() => writeFileSync(${JSON.stringify(file)}, 'x')),
  attempt(() => readFileSync(${JSON.stringify(join(person, '.ssh/id_ed25519'))}, 'utf8')),
  attempt(() => writeFileSync('served.txt', 'x')),
  process.env.OPENAI_API_KEY,
];
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'try', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: tries().join(' ') }] }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: 'no' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});
`,
    );
    const { session } = await runtime.session(
      [callTools({ id: 'm1', name: 'srv-try', arguments: {} }), say('done')],
      {
        workingDirectory: work,
        sandbox: 'bwrap',
        mcpServers: { srv: { command: process.execPath, args: [program] } },
      },
    );
    await session.call('session.permissions.setApproveAll', { enabled: true });
    expect(outputs(await session.turn('Go'))).toEqual([
      expect.stringMatching(/^EROFS (ENOENT|EACCES) undefined $/),
    ]);
    expect(existsSync(file)).toBe(false);
    expect(readFileSync(join(work, 'served.txt'), 'utf8')).toBe('x');
  });

  test('no request leads out of it', async () => {
    const session = await commandSession(runtime, [], { workingDirectory: work, sandbox: 'bwrap' });
    const failure = await session.failure('session.sandbox.disableForSession', { requestId: 'r1' });
    expect(failure.message).toContain('No pending request r1 asks to leave the sandbox');
  });
});

/** Host processes whose command line has this word, the first one of a sandbox too. */
function processesWith(word: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word);
    } catch {
      return false;
    }
  });
}
