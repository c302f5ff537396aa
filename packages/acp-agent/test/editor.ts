import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  type ClientApp,
  type ClientCapabilities,
  type ClientConnection,
  client,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { ScriptedApi, type ScriptedModel, type ScriptedReply, temporaryDirectory } from '@groundcrew/testkit';

const program = fileURLToPath(new URL('../../cli/bin/groundcrew.js', import.meta.url));

export type Shown = SessionNotification['update'];

/** A scripted model, a home, and editors that start the program. */
export class EditorContext {
  readonly home = temporaryDirectory();
  readonly directory = join(this.home.path, 'work');
  private readonly editors: TestEditor[] = [];

  private constructor(
    private readonly api: ScriptedApi,
    readonly model: ScriptedModel,
  ) {
    mkdirSync(this.directory);
    // A title by the model would take a reply that is meant for a prompt.
    const settings = join(this.home.path, 'groundcrew');
    mkdirSync(settings, { mode: 0o700 });
    writeFileSync(join(settings, 'config.json'), '{ "titles": "prompt" }', { mode: 0o600 });
  }

  static async open(): Promise<EditorContext> {
    const api = await ScriptedApi.open();
    return new EditorContext(api, api.script());
  }

  /** An editor with these abilities, and a model that plays these replies next. */
  async start(
    replies: readonly ScriptedReply[] = [],
    options: {
      readonly abilities?: ClientCapabilities;
      readonly handlers?: (app: ClientApp) => void;
      readonly args?: readonly string[];
      readonly environment?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<TestEditor> {
    this.model.play(...replies);
    const editor = new TestEditor(this.spawn(options), options.handlers);
    this.editors.push(editor);
    await editor.agent.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: options.abilities ?? {},
    });
    return editor;
  }

  /** The environment of every program here. */
  get environment(): Readonly<Record<string, string>> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: this.home.path,
      GROUNDCREW_HOME: join(this.home.path, 'groundcrew'),
      GROUNDCREW_BASE_URL: this.model.baseUrl,
      GROUNDCREW_MODEL: 'scripted',
    };
  }

  /** The program, without an editor that talks to it; its starter ends it. */
  spawn({
    args = [],
    environment = {},
  }: {
    readonly args?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
  } = {}): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [program, '--acp', ...args], {
      cwd: this.directory,
      env: { ...this.environment, ...environment },
    });
  }

  async close(): Promise<void> {
    for (const editor of this.editors) await editor.close();
    await this.api.close();
    this.home.remove();
  }
}

/** An editor: what it is shown, what it is asked, and what it answers. */
export class TestEditor {
  readonly shown: Shown[] = [];
  readonly asked: RequestPermissionRequest[] = [];
  /** The option that its user chooses next; they wait while there is none. */
  choose: string | ((request: RequestPermissionRequest) => Promise<string>) = 'once';
  errors = '';
  readonly ended: Promise<number | null>;
  private readonly connection: ClientConnection;
  private readonly watchers = new Set<() => void>();
  private lines = '';

  constructor(
    readonly child: ChildProcessWithoutNullStreams,
    handlers?: (app: ClientApp) => void,
  ) {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    child.stdout.on('data', (chunk: Buffer) => {
      this.lines += chunk.toString();
    });
    this.ended = once(child, 'close').then(([code]) => code as number | null);
    const app = client({ name: 'test' })
      .onNotification('session/update', ({ params }) => {
        this.shown.push(params.update);
        this.changed();
      })
      .onRequest('session/request_permission', async ({ params }) => {
        this.asked.push(params);
        this.changed();
        const { choose } = this;
        const optionId = typeof choose === 'string' ? choose : await choose(params);
        return { outcome: { outcome: 'selected', optionId } };
      });
    handlers?.(app);
    const input = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
    const output = Writable.toWeb(child.stdin) as WritableStream<Uint8Array>;
    this.connection = app.connect(ndJsonStream(output, input));
  }

  get agent() {
    return this.connection.agent;
  }

  /** Every line that the program has written to stdout. */
  get written(): readonly string[] {
    return this.lines.split('\n').filter((line) => line !== '');
  }

  /** Sends a prompt of words, and resolves with why its turn ended. */
  async prompt(sessionId: string, text: string): Promise<string> {
    const { stopReason } = await this.agent.request('session/prompt', {
      sessionId,
      prompt: [{ type: 'text', text }],
    });
    return stopReason;
  }

  /** Resolves when something that was shown or asked is so. */
  until(isSo: () => boolean): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve) => {
      const look = () => {
        if (!isSo()) return;
        this.watchers.delete(look);
        resolve();
      };
      this.watchers.add(look);
    });
  }

  /** The conversation as it was shown: neighbouring pieces of one kind are one line. */
  story(): readonly string[] {
    const lines: [string, string][] = [];
    for (const update of this.shown) {
      const [kind, text] = storyOf(update);
      if (kind === '') continue;
      const last = lines.at(-1);
      if (last && last[0] === kind && kind.endsWith(':')) last[1] += text;
      else lines.push([kind, text]);
    }
    return lines.map(([kind, text]) => `${kind} ${text}`);
  }

  async close(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.stdin.end();
    await this.ended;
  }

  private changed(): void {
    for (const look of [...this.watchers]) look();
  }
}

function storyOf(update: Shown): readonly [string, string] {
  switch (update.sessionUpdate) {
    case 'user_message_chunk':
      return ['user:', textOf(update.content)];
    case 'agent_message_chunk':
      return ['agent:', textOf(update.content)];
    case 'agent_thought_chunk':
      return ['thought:', textOf(update.content)];
    case 'tool_call':
      return ['call', `${update.title} (${update.kind})`];
    case 'tool_call_update':
      return /^(?:in_progress|pending)$/.test(update.status ?? '')
        ? ['', '']
        : ['result', update.status ?? ''];
    case 'plan':
      return ['plan', update.entries.map(({ content, status }) => `${content} ${status}`).join(', ')];
    default:
      return ['', ''];
  }
}

function textOf(content: { readonly type: string; readonly text?: unknown }): string {
  return typeof content.text === 'string' ? content.text : `<${content.type}>`;
}
