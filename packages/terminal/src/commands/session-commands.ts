import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SessionMetadata } from '@groundcrew/sdk';
import { markdownOf } from '../conversation/markdown-export.js';
import { cleanLine } from '../text/clean.js';
import { type Command, Refusal } from './command.js';

const mostListed = 20;

/** Commands about the session as a whole. */
export const sessionCommands: Readonly<Record<string, Command>> = {
  '/new': {
    usage: '/new',
    help: 'begins a new session; the one before stays stored',
    opensSession: true,
    run: ({ open }) => open({ type: 'new' }),
  },
  '/sessions': {
    usage: '/sessions',
    help: 'the sessions there are, the newest first',
    run: async ({ client, print }) => {
      const sessions = await client.listSessions();
      print(...sessions.slice(0, mostListed).map(sessionRow));
      if (sessions.length > mostListed) print(`and ${sessions.length - mostListed} more`);
      if (sessions.length === 0) print('There is no session yet');
    },
  },
  '/resume': {
    usage: '/resume [ID]',
    help: 'goes on with another session; the beginning of its id is enough, or last',
    opensSession: true,
    run: async ({ client, session, args, choose, open, findSession }) => {
      const sessions = await client.listSessions();
      const others = sessions.filter(({ sessionId }) => sessionId !== session.sessionId);
      if (others.length === 0) throw new Refusal('There is no other session');
      const options = others
        .slice(0, mostListed)
        .map((each) => ({ label: sessionRow(each), value: each.sessionId }));
      const wanted = args === 'last' ? others[0]?.sessionId : args;
      const sessionId = wanted ? await findSession(wanted) : await choose('Which session?', options);
      if (sessionId !== undefined) await open({ type: 'resume', sessionId });
    },
  },
  '/compact': {
    usage: '/compact [WHAT MATTERS]',
    help: 'puts a summary in the place of the older messages',
    run: async ({ session, args, print, conversation }) => {
      // Why one that has begun came to nothing is an event, which is shown as every other one.
      let hasBegun = false;
      const stopListening = session.on('session.compaction_start', () => {
        hasBegun = true;
      });
      const compacting = session.call('session.history.compact', {
        ...(args !== '' && { customInstructions: args }),
      });
      const done = await compacting.finally(stopListening);
      if (done.success)
        print(`${done.messagesRemoved} messages are a summary now, ${done.tokensRemoved} tokens less`);
      else print(hasBegun ? 'The conversation stays as it is' : 'There was nothing to gain');
      await conversation.readFacts();
    },
  },
  '/export': {
    usage: '/export [FILE]',
    help: 'writes the conversation as Markdown',
    run: async ({ session, conversation, args, print, workingDirectory }) => {
      const name = args || `groundcrew-${session.sessionId.slice(0, 8)}.md`;
      const path = resolve(workingDirectory, name);
      try {
        writeFileSync(path, markdownOf(conversation.transcript), { flag: 'wx', mode: 0o600 });
      } catch (error) {
        throw new Refusal(`It could not be written: ${error instanceof Error ? error.message : error}`);
      }
      print(`The conversation is in ${path}`);
    },
  },
};

function sessionRow({ sessionId, modifiedTime, summary = '' }: SessionMetadata): string {
  const local = new Date(modifiedTime.getTime() - modifiedTime.getTimezoneOffset() * 60_000);
  const time = local.toISOString().slice(0, 16).replace('T', ' ');
  return cleanLine(`${sessionId}  ${time}  ${summary.slice(0, 60)}`).trimEnd();
}
