import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

// Files of a project that no honest tool wrote: pipes, which are waited for without end, and texts that take long to read.
const runtime = liveRuntime();

function project(name: string): (path: string) => string {
  const root = join(runtime.workingDirectory, name);
  mkdirSync(join(root, '.git'), { recursive: true });
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/main\n');
  return (path) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    return join(root, path);
  };
}

describe('a session begins and works', () => {
  test.each([
    '.git/HEAD',
    '.git/config',
    '.git',
    'AGENTS.md',
    '.github/copilot-instructions.md',
    '.github/agents/a.agent.md',
    '.github/skills/s/SKILL.md',
    '.mcp.json',
    '.gitignore',
    '.github/hooks/h.json',
  ])('where %s is a pipe', async (name) => {
    const at = project(`pipe ${name.replaceAll('/', ' ')}`);
    execFileSync('rm', ['-rf', at(name)]);
    execFileSync('mkfifo', [at(name)]);
    const { session } = await runtime.session([say('fine')], {
      workingDirectory: at('.'),
      enableConfigDiscovery: true,
    });
    const events = await session.turn('Go');
    expect(events.filter(({ type }) => type === 'assistant.message')).toHaveLength(1);
  });

  test('where the settings of the repository are a megabyte of empty lines', async () => {
    const at = project('blank');
    writeFileSync(at('.git/config'), `[remote "origin"]\n${'\n'.repeat(1024 * 1024)}url = https://x/a/b\n`);
    const began = performance.now();
    await runtime.session([], { workingDirectory: at('.') });
    expect(performance.now() - began).toBeLessThan(5000);
  });

  test('and knows the repository by its settings', async () => {
    const at = project('plain');
    writeFileSync(
      at('.git/config'),
      '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://github.com/ann/tools.git\n\tfetch = x\n',
    );
    const { session } = await runtime.session([say('fine')], { workingDirectory: at('.') });
    await session.turn('Go');
    const { sessions } = await runtime.client.call<{ sessions: readonly object[] }>('session.list', {});
    expect(sessions).toContainEqual(
      expect.objectContaining({
        sessionId: session.sessionId,
        context: expect.objectContaining({ repository: 'ann/tools', branch: 'main' }),
      }),
    );
  });
});

describe('a prompt is answered', () => {
  const at = project('attached');
  const pipes = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6.png', 'p7.pdf'];

  test('where what is attached has no end: pipes, devices, links to them', async () => {
    for (const name of pipes) execFileSync('mkfifo', [at(name)]);
    symlinkSync('/dev/zero', at('endless.txt'));
    symlinkSync('/dev/zero', at('endless.png'));
    const attachments = [...pipes, 'endless.txt', 'endless.png'].map((name) => ({
      type: 'file',
      path: at(name),
    }));
    const selection = { type: 'selection', filePath: at('p1'), displayName: 'p1' };
    const { session, model } = await runtime.session([say('fine')], { workingDirectory: at('.') });
    await session.turn('Look', { attachments: [...attachments, selection] });
    const asked = JSON.stringify(model.requests[0]?.body.messages.at(-1)?.content);
    for (const { path } of attachments) expect(asked).toContain(`${path} is no plain file`);
  });

  test('where what is attached has a terabyte, with its length in bytes', async () => {
    writeFileSync(at('sparse'), '');
    truncateSync(at('sparse'), 2 ** 40);
    const { session, model } = await runtime.session([say('fine')], { workingDirectory: at('.') });
    const attachments = [{ type: 'file', path: at('sparse'), lineRange: { start: 1, end: 2 } }];
    await session.turn('Look', { attachments });
    expect(JSON.stringify(model.requests[0]?.body.messages.at(-1)?.content)).toContain(
      `${at('sparse')} (lines 1-2 of ${2 ** 40} bytes)`,
    );
  });
});
