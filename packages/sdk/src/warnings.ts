import type { ClientOptions } from './client-options.js';
import type { RuntimeConnection } from './connection-options.js';
import { toError } from './errors.js';
import { unknownNames } from './option-names.js';

type Kind = Parameters<typeof unknownNames>[0];

/** Warns the app of options without effect, each sentence once. */
export class Warnings {
  private readonly shown = new Set<string>();

  constructor(private readonly onWarning: ClientOptions['onWarning']) {}

  /** Warns of the client's own options. */
  ofClient(options: ClientOptions): void {
    this.ofNames('client', options);
    const { connection } = options;
    if (!connection) return;
    this.ofNames(connection.kind, connection);
    for (const name of ofTheRuntime[connection.kind] ?? [])
      if (options[name] !== undefined)
        this.print(
          `The option '${name}' of Client has no effect: the client starts no process for the runtime.`,
        );
  }

  /** Warns of names that no option has. */
  ofNames(kind: Kind, options: object): void {
    for (const { message } of unknownNames(kind, options)) this.print(message);
  }

  /** Warns of commands that nothing here runs. */
  ofCommands(commands: readonly { readonly name: string; readonly handler?: unknown }[] = []): void {
    for (const { name, handler } of commands)
      if (typeof handler !== 'function')
        this.print(`The command ${name} is declared and has no handler: nothing happens when it is called.`);
  }

  /** Passes on the runtime's warnings about options, except for names that the SDK has already explained. */
  ofRuntime(kind: Kind, options: object, messages: readonly string[]): void {
    const unknown = unknownNames(kind, options).map(({ option }) => `'${option}'`);
    for (const message of messages)
      if (!unknown.some((option) => message.includes(option))) this.print(message);
  }

  private print(message: string): void {
    if (this.shown.has(message)) return;
    this.shown.add(message);
    try {
      if (this.onWarning) this.onWarning(message);
      else warnProcess(message);
    } catch (error) {
      warnProcess(message);
      warnProcess(`The handler onWarning threw: ${toError(error).message}`);
    }
  }
}

function warnProcess(message: string): void {
  process.emitWarning(message, 'GroundcrewWarning');
}

const ofTheProcess = [
  'workingDirectory',
  'baseDirectory',
  'env',
  'logLevel',
  'gitHubToken',
  'useLoggedInUser',
  'sessionIdleTimeoutSeconds',
  'telemetry',
] as const;

/** Options that only the process that starts a runtime can set. */
const ofTheRuntime: Readonly<Partial<Record<RuntimeConnection['kind'], readonly (keyof ClientOptions)[]>>> = {
  uri: ofTheProcess,
  channel: ofTheProcess,
  inprocess: ['logLevel'],
};
