import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, RuntimeProcess, type WireClient } from '@groundcrew/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noSandbox, SandboxWorld } from './sandbox-world.js';

const noPerl = existsSync('/usr/bin/perl') ? undefined : 'these tests make system calls by perl';
const noNumbers = process.arch === 'x64' ? undefined : 'these tests know the system calls of x64';
const reason = noSandbox ?? noPerl ?? noNumbers;

if (reason !== undefined) console.warn(`skipped, tests of the sandbox and the kernel: ${reason}`);

describe.skipIf(reason !== undefined)('a program in the sandbox asks the kernel', () => {
  const world = new SandboxWorld();
  const runtime = liveRuntime({ flags: ['--stdio'] });
  const secret = world.file('outside/open.txt', 'read by a descriptor');
  // A key in a session keyring of its own, and an open file: what a login and a careless parent leave to a runtime.
  const launcher = world.file(
    'launch.pl',
    `syscall(250, 1, 0); my ($type, $name, $key) = ('user', 'groundcrew-key', 'the ring key');
$ENV{RING_ID} = syscall(248, $type, $name, $key, length $key, -3);
$^F = 99; open(my $file, '<', '${secret}'); use POSIX; POSIX::dup2(fileno $file, 23); POSIX::dup2(fileno $file, 6);
exec @ARGV;`,
  );
  let process: RuntimeProcess;
  let client: WireClient;

  beforeAll(async () => {
    process = new RuntimeProcess({
      flags: ['--headless', '--stdio'],
      home: world.directory('home'),
      launcher: ['/usr/bin/perl', launcher],
    });
    client = await runtime.connect(process, { hasGaps: true });
  });
  afterAll(() => process?.stop());

  /** What a program of perl writes, with `$!` for the reason. */
  async function perl(program: string, params: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const session = await client.create({ workingDirectory: world.work, sandbox: 'bwrap', ...params });
    const file = world.file('work/try.pl', program);
    const { output } = await session.call<{ output: string }>('session.shell.executeUserRequested', {
      requestId: 'r',
      command: `timeout 5 perl '${file}' 2>&1`,
    });
    await session.call('session.destroy');
    return output.trim();
  }

  const noNetwork = { sandboxConfig: { enabled: true, userPolicy: { network: { allowOutbound: false } } } };

  test('for keys of the keyrings of the runtime, and gets none', async () => {
    const seen =
      await perl(`my $bytes = "\\0" x 64; my ($type, $name, $new) = ('user', 'groundcrew-key', 'mine');
sub seen { my ($what, $got) = @_; print "$what: ", ($got < 0 ? "$!" : "got $got $bytes"), "\\n"; }
seen('read', syscall(250, 11, ($ENV{RING_ID} // 1) + 0, $bytes, 64, 0));
seen('search', syscall(250, 10, -3, $type, $name, 0));
seen('request', syscall(249, $type, $name, 0, -3));
seen('add', syscall(248, $type, $name, $new, 4, -3));
seen('join', syscall(250, 1, 0));
seen('x32', syscall(250 | 0x40000000, 10, -3, $type, $name, 0));`);
    expect(seen.split('\n')).toEqual(
      ['read', 'search', 'request', 'add', 'join', 'x32'].map((what) => `${what}: Function not implemented`),
    );
  });

  test('for descriptors that the runtime was started with, and gets none', async () => {
    expect(readFileSync(`/proc/${process.pid}/fd/23`, 'utf8')).toBe('read by a descriptor');
    expect(
      await perl(
        `for my $number (3 .. 60) { open(my $file, '<&=', $number) or next; my $text = join '', <$file>; print "$number: $text\\n" if $text =~ /read by/ } print 'end';`,
      ),
    ).toBe('end');
  });

  test('for sockets that no network namespace holds, which only a session with the network has', async () => {
    const ask = `for my $family (1, 2, 10, 16, 17, 38, 40) { my $made = syscall(41, $family, $family == 38 ? 5 : $family == 16 ? 3 : 1, 0); print "$family: ", ($made < 0 ? "$!" : 'made'), "\\n" }
my $bytes = "\\0" x 120; my $ring = syscall(425, 4, $bytes); print 'ring: ', ($ring < 0 ? "$!" : 'made'), "\\n";`;
    const noFamily = 'Address family not supported by protocol';
    expect((await perl(ask, noNetwork)).split('\n')).toEqual([
      ...['1: made', '2: made', '10: made', '16: made'],
      ...[17, 38, 40].map((family) => `${family}: ${noFamily}`),
      'ring: Function not implemented',
    ]);
    expect((await perl(ask)).split('\n').slice(0, 4)).toEqual(['1: made', '2: made', '10: made', '16: made']);
  });

  test('for namespaces, mounts, devices, other processes and rights of their files, and gets none', async () => {
    const seen = await perl(`sub seen { my ($what, $got) = @_; print "$what\\n" if $got >= 0; }
my ($path, $root, $type) = ("$ENV{PWD}/node", '/', 'tmpfs');
my $place = 'place'; my $vector = pack('PQ', $place, 5);
my ($clone, $time, $bytes, $events) = (pack('Q11', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), pack('qq', 1, 1), "\\0" x 120, pack('LLQ', 1, 112, 0) . "\\0" x 96);
seen('user namespace', syscall(272, 0x10000000)); seen('mount namespace', syscall(272, 0x20000)); seen('clone3', syscall(435, $clone, 88));
seen('mount', syscall(165, $type, $root, $type, 0, 0)); seen('open_tree', syscall(428, -100, $root, 1)); seen('fsopen', syscall(430, $type, 0));
seen('device', syscall(133, $path, 0020666, 0x0103)); seen('root', syscall(161, $root));
seen('trace', syscall(101, 16, ${runtime.process.pid}, 0, 0)); seen('memory', syscall(310, ${runtime.process.pid}, $vector, 1, $vector, 1, 0)); seen('pidfd', syscall(434, ${runtime.process.pid}, 0));
seen('module', syscall(175, $path, 0, $type)); seen('clock', syscall(227, 0, $time)); seen('name', syscall(170, $type, 5));
seen('bpf', syscall(321, 5, $bytes, 120)); seen('trace of the machine', syscall(298, $events, -1, 0, -1, 0));
for my $file ('/proc/sys/kernel/hostname', '/proc/sys/vm/drop_caches', '/proc/sysrq-trigger', '/sys/power/state', '/dev/mem', '/dev/kmsg', '/dev/sda', '/dev/vda') { print "$file\\n" if open(my $out, '+<', $file) }
system('cp /bin/true own; chmod 4755 own; ./own'); print \`grep NoNewPrivs /proc/self/status\`;`);
    expect(seen).toBe('NoNewPrivs:\t1');
  });

  test('for a terminal to type into, and has none', async () => {
    expect(
      await perl(
        `my $key = 'x'; my $typed = 0; for my $number (0 .. 9) { open(my $file, '<&=', $number) or next; $typed++ if ioctl($file, 0x5412, $key) } print "typed $typed "; print open(my $own, '<', '/dev/tty') ? 'tty ' : 'no tty '; opendir(my $list, '/dev/pts'); print join ' ', grep { /[0-9]/ } readdir $list;`,
      ),
    ).toBe('typed 0 no tty');
  });

  test('for memory that is shared by name, and gets its own', async () => {
    const name = `groundcrew-${Date.now()}`;
    const file = join('/dev/shm', name);
    expect(
      await perl(
        `open(my $out, '>', '${file}') and print 'made '; my $id = syscall(29, 0x6763, 4096, 01666); print $id >= 0 ? 'segment' : "$!";`,
      ),
    ).toBe('made segment');
    expect(existsSync(file)).toBe(false);
    expect(readFileSync('/proc/sysvipc/shm', 'utf8')).not.toMatch(new RegExp(`^\\s*${0x6763}\\s`, 'm'));
  });
});
