import { configFlags } from '../config/config.js';
import { UsageError } from '../flags/arguments.js';
import { switchFlag } from '../flags/flags.js';
import { findSessionId } from '../sessions/session-choice.js';
import type { StoredSessions } from '../sessions/stored-sessions.js';
import { withProgress } from '../terminal/progress.js';
import { exitCodes } from '../terminal/terminal.js';
import { shortened, visible } from '../terminal/visible.js';
import { defineCommand, show } from './command.js';
import { idIn, withSession, withStored } from './with-session.js';

const { logLevel, store } = configFlags;

/** `groundcrew sessions rewind`: takes a session back; to look where to changes nothing. */
export const rewind = defineCommand({
  usage: [
    'groundcrew sessions rewind ID',
    'groundcrew sessions rewind ID EVENT [--files] [--force] [--dry-run]',
  ],
  summary: 'Takes a session back to before a prompt; without one, lists the prompts',
  flags: {
    files: switchFlag('--files', 'also put back the files that tools of the session wrote'),
    force: switchFlag('--force', 'also those that others have changed since'),
    dryRun: switchFlag('--dry-run', 'say which files would be changed, and change nothing'),
    store,
    logLevel,
  },
  mostWords: 2,
  run: async ({ flags, words }, terminal) => {
    const [, eventId] = words;
    if (flags.force && !flags.files) throw new UsageError('--force goes with --files');
    const shown = await withStored(flags, terminal, async (stored) => {
      const sessionId = await findSessionId(idIn(words), () => stored.list());
      if (eventId === undefined) return pointLines(await stored.rewindPoints(sessionId));
      // An event that is none is refused before the session is opened.
      return previewLines(await stored.rewindPreview(sessionId, eventId));
    });
    if (eventId === undefined || flags.dryRun)
      return shown.length === 0 ? exitCodes.done : show(shown.join('\n'), terminal);
    return withSession(words, flags, terminal, async (session) => {
      const mode = flags.files ? 'conversation-and-files' : 'conversation';
      const done = await withProgress(terminal, 'taking it back', () =>
        session.call('session.history.rewind', { eventId, mode, ...(flags.force && { force: true }) }),
      );
      for (const path of done.restoredFiles) show(`put back: ${visible(path)}`, terminal);
      for (const { path, reason } of done.skippedFiles)
        show(`left as it is (${reason}): ${visible(path)}`, terminal);
      if (done.outcome === 'success') return show(`${done.eventsRemoved ?? 0} events taken back`, terminal);
      terminal.errorOutput.write(`groundcrew: ${done.error ?? done.outcome}\n`);
      return exitCodes.failed;
    });
  },
});

type Points = Awaited<ReturnType<StoredSessions['rewindPoints']>>;

function pointLines(points: Points): readonly string[] {
  return points.map(({ eventId, timestamp, userMessage, fileCount }) => {
    const files = fileCount === 0 ? '' : `  (${fileCount} files)`;
    return `${eventId}  ${timestamp.slice(0, 16).replace('T', ' ')}  ${shortened(visible(userMessage), 60)}${files}`;
  });
}

type Preview = Awaited<ReturnType<StoredSessions['rewindPreview']>>;

function previewLines(files: Preview): readonly string[] {
  if (!files) return ['no files can be put back: the session does not track what its tools write'];
  const lines = files.map(({ path, changeType, linesAdded, linesRemoved, changedSince }) => {
    const since = changedSince ? ', changed by others since' : '';
    return `${changeType}: ${visible(path)} (+${linesAdded} −${linesRemoved}${since})`;
  });
  return lines.length === 0 ? ['no files would be changed'] : lines;
}
