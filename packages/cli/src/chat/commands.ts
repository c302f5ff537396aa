import type { Client, Session } from '@groundcrew/sdk';
import type { Config } from '../config/config.js';
import { UsageError } from '../flags/arguments.js';
import { findSessionId, listOf } from '../sessions/session-choice.js';
import { sessionRows } from '../sessions/session-rows.js';

/** What a command of the chat may use. */
export interface ChatContext {
  readonly client: Client;
  readonly config: Config;
  readonly session: Session;
  /** The first word after the command. */
  readonly word: string | undefined;
  print(line: string): void;
  /** Begins a new session. */
  begin(): Promise<void>;
  /** Goes on with another session. */
  resume(sessionId: string): Promise<void>;
}

interface ChatCommand {
  readonly usage: string;
  readonly help: string;
  run(context: ChatContext): Promise<'quit' | undefined>;
}

const mostRows = 20;

/** What one can say to the chat itself. */
export const chatCommands: Readonly<Record<string, ChatCommand>> = {
  '/help': {
    usage: '/help',
    help: 'lists these commands',
    run: async ({ print }) => {
      const rows = Object.values(chatCommands);
      const width = Math.max(...rows.map(({ usage }) => usage.length)) + 2;
      for (const { usage, help } of rows) print(`${usage.padEnd(width)}${help}`);
      return undefined;
    },
  },
  '/model': {
    usage: '/model [ID]',
    help: 'the model that answers, or another one from now on',
    run: async ({ client, config, session, print, word }) => {
      if (word !== undefined) {
        await session.setModel(word);
        print(`The model is ${word} from now on`);
        return undefined;
      }
      const { modelId } = await session.call('session.model.getCurrent');
      const listed = config.provider ? [] : await client.listModels();
      print(
        `The model is ${modelId ?? config.provider?.config.modelId ?? listed[0]?.id ?? "the service's choice"}`,
      );
      for (const { id, name } of listed) print(`  ${id}  ${name}`);
      return undefined;
    },
  },
  '/new': {
    usage: '/new',
    help: 'begins a new session; the one before stays stored',
    run: async ({ begin }) => {
      await begin();
      return undefined;
    },
  },
  '/sessions': {
    usage: '/sessions',
    help: 'the sessions there are, the newest first',
    run: async ({ client, print }) => {
      const sessions = await client.listSessions();
      for (const row of sessionRows(sessions.slice(0, mostRows))) print(row);
      if (sessions.length > mostRows) print(`and ${sessions.length - mostRows} more: groundcrew sessions ls`);
      if (sessions.length === 0) print('There is no session yet');
      return undefined;
    },
  },
  '/resume': {
    usage: '/resume ID',
    help: 'goes on with another session; the beginning of its id is enough, or last',
    run: async ({ client, session, resume, word }) => {
      if (word === undefined) throw new UsageError('/resume needs the id of a session');
      const others = async () =>
        (await client.listSessions()).filter((each) => each.sessionId !== session.sessionId);
      const sessionId = await findSessionId(word, word === 'last' ? others : listOf(client));
      await resume(sessionId);
      return undefined;
    },
  },
  '/quit': { usage: '/quit', help: 'ends the program', run: async () => 'quit' },
};
