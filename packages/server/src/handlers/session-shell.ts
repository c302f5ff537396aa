import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Methods } from '@groundcrew/protocol';
import { encode } from '@groundcrew/rpc';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.shell.${string}`>;

export const sessionShellHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.shell.exec'({ command, cwd, timeout }, { session, client }) {
    const refusal = await session.userShell.refusal(command);
    if (refusal !== undefined) throw new Refusal(refusal);
    const processId = randomUUID();
    const toolEnvironment = await session.tools.toolEnvironment();
    const workingDirectory = resolve(toolEnvironment.workingDirectory, cwd ?? '.');
    const order = { processId, command, ...(timeout !== undefined && { timeout }) };
    await session.userShell.commands.start(order, { ...toolEnvironment, workingDirectory }, (exitCode) =>
      client.sendFrame(encode({ jsonrpc: '2.0', method: 'shell.exit', params: { processId, exitCode } })),
    );
    return { processId };
  },
  async 'session.shell.kill'({ processId, signal = 'SIGTERM' }, { session }) {
    const toolEnvironment = await session.tools.toolEnvironment();
    return { killed: await session.userShell.commands.kill(processId, signal, toolEnvironment) };
  },
  async 'session.shell.executeUserRequested'({ requestId, command }, { session, signal }) {
    return session.userShell.run({ requestId, command, toolCallId: randomUUID() }, signal);
  },
  async 'session.shell.cancelUserRequested'({ requestId }, { session }) {
    return { cancelled: session.userShell.commands.cancel(requestId) };
  },
};
