import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ExitStatus } from '../exec/executor.js';
import type { StartedProgram } from '../tools/shell/program.js';
import { isTooDeep } from './json-depth.js';
import { deepestMessage, Intake, longestMessage, tooDeep, tooLong } from './message-limits.js';

/** Bounds that keep a server from filling the memory or holding the thread. */
const mostUnsent = 16 * 1024 * 1024;
const mostStrayLines = 1000;
/** Messages read in one go before others have their turn. */
const messagesAtOnce = 50;
const keptStderr = 4096;

/** Speaks with a child line by line. What a server writes is read within bounds; one that exceeds them is left. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** By this and `pid` the library knows that silence is an old server, not an outage. */
  readonly stderr = null;
  /** Why the server was left, where it did not end by itself. */
  fault: string | undefined;
  /** How the child ended. */
  ending: ExitStatus | undefined;
  /** The first line that was no message. */
  strayLine: string | undefined;
  /** It has sent a message. */
  hasSpoken = false;
  private strays = 0;
  private pieces: Buffer[] = [];
  private size = 0;
  private readonly lines: Buffer[] = [];
  private isDraining = false;
  private isClosed = false;
  private errors = '';
  private readonly intake = new Intake();

  constructor(private readonly program: StartedProgram) {}

  get pid(): number | undefined {
    return this.program.child.pid;
  }

  /** The last lines that the server wrote to stderr. */
  get lastErrors(): string {
    return this.errors.trim();
  }

  async start(): Promise<void> {
    const { process, ended } = this.program.child;
    const { stdin, stdout, stderr } = process;
    stdout?.on('data', (chunk: Buffer) => this.take(chunk));
    stdout?.on('error', () => this.finish());
    stderr?.on('data', (chunk: Buffer) => {
      this.errors = (this.errors + chunk.toString('utf8')).slice(-keptStderr);
    });
    stderr?.on('error', (error) => this.onerror?.(error));
    // A server that has ended takes nothing more; that it has is known by its ending.
    stdin?.on('error', (error) => this.onerror?.(error));
    void ended.then(async (ending) => {
      this.ending = ending;
      // What it wrote before its end may still be on its way.
      if (ending.type === 'exited' && stdout && !stdout.readableEnded) await endOf(stdout);
      this.drain(Number.POSITIVE_INFINITY);
      this.finish();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.program.child.process;
    if (this.isClosed || !stdin?.writable) throw new Error('The server has ended');
    if (stdin.writableLength > mostUnsent) throw new Error('The server does not read what it is sent');
    this.intake.sent(message);
    const error = await new Promise<Error | null | undefined>((resolve) => {
      stdin.write(`${JSON.stringify(message)}\n`, resolve);
    });
    if (!error) return;
    // A pipe breaks before its process is known to have ended; how it ended says more.
    await Promise.race([this.program.child.ended, pause(graceMilliseconds)]);
    throw error;
  }

  async close(): Promise<void> {
    this.finish();
    const { process, ended } = this.program.child;
    process.stdin?.end();
    await Promise.race([ended, pause(graceMilliseconds)]);
    await this.program.end();
  }

  private take(chunk: Buffer): void {
    if (this.isClosed) return;
    let rest = chunk;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      this.lines.push(Buffer.concat([...this.pieces, rest.subarray(0, at)]));
      this.pieces = [];
      this.size = 0;
      rest = rest.subarray(at + 1);
    }
    if (rest.length > 0) this.pieces.push(rest);
    this.size += rest.length;
    if (this.size > longestMessage) this.leave(tooLong);
    else this.drainLater();
  }

  private drainLater(): void {
    if (this.isDraining || this.lines.length === 0) return;
    this.isDraining = true;
    this.program.child.process.stdout?.pause();
    this.drain(messagesAtOnce);
    setImmediate(() => {
      this.isDraining = false;
      if (this.lines.length > 0) this.drainLater();
      else this.program.child.process.stdout?.resume();
    });
  }

  private drain(most: number): void {
    let hasNotified = false;
    for (let count = 0; count < most && !this.isClosed; count++) {
      const line = this.lines.shift();
      if (!line) return;
      const message = this.parsed(line);
      if (!message) continue;
      const isNotification = 'method' in message && !('id' in message);
      // The library looks at notifications a little later: an answer that follows must not overtake them.
      if (hasNotified && !isNotification && most === messagesAtOnce) {
        this.lines.unshift(line);
        return;
      }
      hasNotified ||= isNotification;
      this.read(message);
    }
  }

  private parsed(line: Buffer): JSONRPCMessage | undefined {
    const text = line.toString('utf8').trim();
    if (text === '') return undefined;
    if (isTooDeep(text, deepestMessage)) {
      this.leave(tooDeep);
      return undefined;
    }
    const message = messageIn(text);
    if (message === undefined) this.stray(text);
    return message;
  }

  private read(message: JSONRPCMessage): void {
    const fault = this.intake.faultOf(message);
    if (fault !== undefined) this.leave(fault);
    else {
      this.hasSpoken = true;
      this.onmessage?.(message);
    }
  }

  /** Many servers write their greetings where messages belong. */
  private stray(text: string): void {
    this.strayLine ??= text.slice(0, 200);
    this.strays += 1;
    if (this.strays > mostStrayLines)
      this.leave(`it writes what is no JSON-RPC message, such as ${JSON.stringify(this.strayLine)}`);
  }

  private leave(fault: string): void {
    if (this.isClosed) return;
    this.fault = fault;
    this.finish();
    void this.program.end();
  }

  private finish(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.pieces = [];
    this.lines.length = 0;
    this.program.child.process.stdout?.resume();
    this.onclose?.();
  }
}

/** How long a server may take to end by itself when its input ends. */
const graceMilliseconds = 150;
const drainMilliseconds = 50;

function messageIn(text: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isMessage = typeof value === 'object' && value !== null && 'jsonrpc' in value;
    return isMessage ? (value as JSONRPCMessage) : undefined;
  } catch {
    // It is counted as what it is: no message.
    return undefined;
  }
}

function endOf(stream: NodeJS.ReadableStream): Promise<unknown> {
  return Promise.race([new Promise((resolve) => stream.once('end', resolve)), pause(drainMilliseconds)]);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
