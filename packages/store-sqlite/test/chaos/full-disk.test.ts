import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { bundleChild, type Child, makeChaos } from './children.js';

const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

/** Mounts two megabytes over the directory given as first word and runs the rest there. */
const smallDisk = 'mount -t tmpfs -o size=2m none "$0" && exec "$@"';

test.runIf(canMount)(
  'an append that the disk has no room for fails as full and writes nothing, and work goes on',
  async () => {
    const program = await bundleChild({ failpoints: false });
    const chaos = makeChaos(program);
    const wrapper = ['unshare', '-rm', 'sh', '-c', smallDisk, chaos.home];
    const child = chaos.start({ mode: 'group', sessionId: 's', task: 'order' }, wrapper);
    expect(await child.next()).toEqual({ acknowledged: 0 });
    expect(await order(child, '100')).toEqual({ acknowledged: 100 });
    expect(await order(child, '20000')).toEqual({ refused: 'full' });
    expect(await order(child, '100')).toEqual({ acknowledged: 200 });
    child.process.stdin?.end();
    await once(child.process, 'exit');
    chaos.close();
    rmSync(dirname(program), { recursive: true });
  },
);

function order(child: Child, count: string) {
  child.process.stdin?.write(`${count}\n`);
  return child.next();
}
