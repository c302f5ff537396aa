import { cleanLine } from '../text/clean.js';
import { type Command, type CommandContext, Refusal } from './command.js';

const mostOffered = 20;

/** Commands that go back in what was said and done. */
export const historyCommands: Readonly<Record<string, Command>> = {
  '/fork': {
    usage: '/fork [NUMBER]',
    help: 'goes on in a new session: with all of this one, or without the last prompts, so many of them',
    opensSession: true,
    run: async (context) => {
      const { client, session, open, print, write } = context;
      const point = context.args === '' ? undefined : await pointOf(context);
      const made = await client.call('sessions.fork', {
        sessionId: session.sessionId,
        ...(point && { toEventId: point.eventId }),
      });
      print(`Session ${session.sessionId} stays as it is`);
      await open({ type: 'resume', sessionId: made.sessionId });
      if (point) write(point.userMessage);
    },
  },
  '/rewind': {
    usage: '/rewind [NUMBER]',
    help: 'takes back the last prompts, so many of them, with the files that tools wrote since',
    opensSession: true,
    run: async (context) => {
      const { session, open, print, write, choose } = context;
      const point = await pointOf(context);
      if (!point) return;
      const hasFiles = point.canRestoreFiles && point.fileCount > 0;
      const mode = hasFiles ? await choose('What is taken back?', modes) : 'conversation';
      if (mode === undefined) return;
      const done = await session.call('session.history.rewind', { eventId: point.eventId, mode });
      if (done.outcome !== 'success')
        throw new Refusal(`It could not be taken back: ${done.error ?? done.outcome}`);
      await open({ type: 'resume', sessionId: session.sessionId });
      const files = done.restoredFiles.length === 0 ? '' : `, and ${done.restoredFiles.length} files`;
      print(`The conversation is as it was before that prompt${files}`);
      for (const { path } of done.skippedFiles)
        print(cleanLine(`! ${path} was changed by others, and was left as it is`));
      write(point.userMessage);
    },
  },
};

const modes = [
  { label: 'The conversation and the files', value: 'conversation-and-files' },
  { label: 'The conversation alone', value: 'conversation' },
];

/** Why no prompt can be taken back, or left out, now. */
const obstacles: Readonly<Record<string, string>> = {
  'session-busy': 'The session is at work: Ctrl-C stops it, then it can be done',
  'file-change-tracking-disabled':
    'What tools wrote was not recorded in this session, so nothing can be taken back',
};

/** The prompt that is meant: so many from the end, or one that the user chooses. */
async function pointOf({ session, args, choose }: CommandContext) {
  const { points, unavailableReason } = await session.call('session.history.listRewindPoints');
  if (points.length === 0)
    throw new Refusal(
      unavailableReason
        ? (obstacles[unavailableReason] ?? `No prompt can be taken back: ${unavailableReason}`)
        : 'There is no prompt to take back',
    );
  if (args !== '') {
    const back = Number(args);
    const found = Number.isInteger(back) && back > 0 ? points.at(-back) : undefined;
    if (!found) throw new Refusal(`It takes a number from 1 to ${points.length}`);
    return found;
  }
  const options = points
    .slice(-mostOffered)
    .reverse()
    .map((point) => ({ label: cleanLine(point.userMessage).slice(0, 70), value: point }));
  return choose('Back to before which prompt?', options);
}
