import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { InputKind, StopSignal, Terminal } from './terminal.js';
import { startDirectory } from './working-directory.js';

/** This process, as commands see it. Streams are opened when they are first used. */
export function processTerminal(version: string): Terminal & { isRead(): boolean } {
  let isRead = true;
  return {
    /** False when a write has failed because the output has no reader any more. */
    isRead: () => isRead,
    environment: process.env,
    workingDirectory: startDirectory(),
    version,
    get input() {
      return process.stdin;
    },
    get output() {
      return process.stdout;
    },
    get errorOutput() {
      return process.stderr;
    },
    inputKind: inputKind(),
    onStop: (handler) =>
      onStop((signal) => {
        if (signal === 'SIGPIPE') isRead = false;
        handler(signal);
      }),
    onWarning,
    exit: (code) => process.exit(code),
  };
}

/** Waits until the system has taken all that was written. */
export async function flushed(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength === 0 || stream.destroyed) continue;
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function onStop(handler: (signal: StopSignal) => void): () => void {
  const undo = signals.map((signal) => {
    const receive = () => handler(signal);
    process.on(signal, receive);
    return () => process.off(signal, receive);
  });
  // These stay: there is no reader any more, and what is still written must not end the program by an error.
  process.stdout.on('error', () => handler('SIGPIPE'));
  process.stderr.on('error', () => undefined);
  return () => {
    for (const each of undo) each();
  };
}

function onWarning(handler: (message: string) => void): () => void {
  const usual = process.listeners('warning');
  const receive = ({ name, message }: Error) => handler(`${name}: ${message}`);
  process.removeAllListeners('warning').on('warning', receive);
  return () => {
    process.off('warning', receive);
    for (const each of usual) process.on('warning', each);
  };
}

function inputKind(): InputKind {
  if (isatty(0)) return 'terminal';
  try {
    return fstatSync(0).isSocket() ? 'socket' : 'pipe';
  } catch {
    return 'socket'; // there is no stdin at all: nothing will come
  }
}
