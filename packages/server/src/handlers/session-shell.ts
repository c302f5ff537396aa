import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Methods } from '@groundcrew/protocol';
import { encode } from '@groundcrew/rpc';
import { refusalOfUserCommand, runUserCommand } from '@groundcrew/runtime';
import { refuse } from '../failure.js';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.shell.${string}`>;

export const sessionShellHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.shell.exec'({ sessionId, command, cwd, timeout }, context) {
    const session = findSession('session.shell.exec', sessionId, context);
    const refusal = await refusalOfUserCommand(session, command);
    if (refusal !== undefined) throw refuse('session.shell.exec', refusal);
    const processId = randomUUID();
    const toolEnvironment = await session.tools.toolEnvironment();
    const workingDirectory = resolve(toolEnvironment.workingDirectory, cwd ?? '.');
    const order = { processId, command, ...(timeout !== undefined && { timeout }) };
    await session.userCommands.start(order, { ...toolEnvironment, workingDirectory }, (exitCode) =>
      context.client.sendFrame(
        encode({ jsonrpc: '2.0', method: 'shell.exit', params: { processId, exitCode } }),
      ),
    );
    return { processId };
  },
  async 'session.shell.kill'({ sessionId, processId, signal = 'SIGTERM' }, context) {
    const session = findSession('session.shell.kill', sessionId, context);
    const toolEnvironment = await session.tools.toolEnvironment();
    return { killed: await session.userCommands.kill(processId, signal, toolEnvironment) };
  },
  async 'session.shell.executeUserRequested'({ sessionId, requestId, command }, context) {
    const session = findSession('session.shell.executeUserRequested', sessionId, context);
    return runUserCommand(session, { requestId, command, toolCallId: randomUUID() }, context.signal);
  },
  async 'session.shell.cancelUserRequested'({ sessionId, requestId }, context) {
    const session = findSession('session.shell.cancelUserRequested', sessionId, context);
    return { cancelled: session.userCommands.cancel(requestId) };
  },
};
