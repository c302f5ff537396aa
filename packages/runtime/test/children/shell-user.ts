import { Shells } from '../../src/tools/shell/shells.js';

/** A runtime as small as can be: starts the commands it is given, says when they run, and then does nothing. */
const [, , directory = '.', ...commands] = process.argv;
const shells = await new Shells(process.env).forSession().open();
for (const command of commands) {
  const [isDetached, text] = command.startsWith('detached:') ? [true, command.slice(9)] : [false, command];
  await shells.start({
    command: text,
    mode: 'async',
    isDetached,
    workingDirectory: directory,
    largeOutput: { isEnabled: true, maxBytes: 1024, directory, sessionDirectory: directory },
  });
}
console.log('started');
setInterval(() => undefined, 1000);
