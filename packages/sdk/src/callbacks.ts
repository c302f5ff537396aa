import type { Callbacks, ParsedParams, Result } from '@groundcrew/protocol';
import { ErrorCode, RpcError } from '@groundcrew/rpc';
import { readCallback } from './callback-params.js';
import { readArguments } from './define-tool.js';
import { toError } from './errors.js';
import type { Report } from './handler-failure.js';
import { hookFor, hookInput } from './hooks.js';
import type { BearerTokenProvider, SessionConfigBase } from './session-options.js';
import { transformsOf } from './system-message.js';

/** Answers the requests that the runtime puts to one session of this client. */
export class CallbackAnswers {
  constructor(
    private options: SessionConfigBase,
    private readonly report: Report,
  ) {}

  /** From now on these handlers answer. */
  goBy(options: SessionConfigBase): void {
    this.options = options;
  }

  /** What the app's handler answers; one that throws is an error to the runtime, which then does without or denies. */
  async answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (!isCallback(method)) throw new RpcError(ErrorCode.methodNotFound, `Unhandled method ${method}`);
    const parsed = readCallback(method, params);
    if (!parsed.success) throw new RpcError(ErrorCode.invalidParams, `${method}: ${parsed.reason}`);
    // The table pairs each name with its own answer; which one this is, is known only now.
    const answer = answers[method] as Answer<SessionCallback>;
    try {
      return await answer(parsed.data as never, { options: this.options, signal });
    } catch (thrown) {
      if (thrown instanceof RpcError) throw thrown;
      const { sessionId, hookType } = parsed.data as { sessionId: string; hookType?: string };
      const what =
        hookType === undefined
          ? ({ handler: 'callback', name: method } as const)
          : ({ handler: 'hook', name: hookType } as const);
      if (!signal.aborted) this.report({ ...what, sessionId }, thrown);
      throw new RpcError(ErrorCode.internal, toError(thrown).message);
    }
  }
}

interface CallbackContext {
  readonly options: SessionConfigBase;
  readonly signal: AbortSignal;
}

/** What one session is asked; model calls and files are answered for the whole runtime, and protocol 2, canvases, tasks of clients and GitHub tokens are not spoken here. */
type SessionCallback = Exclude<
  keyof Callbacks,
  | `llmInference.${string}`
  | `sessionFs.${string}`
  | `canvas.${string}`
  | `factory.${string}`
  | `workflow.${string}`
  | `tasks.${string}`
  | `gitHubToken.${string}`
  | 'permission.request'
  | 'tool.call'
>;

type Answer<K extends SessionCallback> = (
  params: ParsedParams<Callbacks[K]>,
  context: CallbackContext,
) => Promise<Result<Callbacks[K]>>;

const answers: { readonly [K in SessionCallback]: Answer<K> } = {
  async 'autoModeSwitch.request'({ sessionId, ...request }, { options, signal }) {
    const handler = options.onAutoModeSwitchRequest;
    return { response: handler ? await handler(request, { sessionId }, signal) : 'no' };
  },
  async 'exitPlanMode.request'({ sessionId, ...request }, { options, signal }) {
    return required(options.onExitPlanModeRequest, 'exitPlanMode.request')(request, { sessionId }, signal);
  },
  async 'hooks.invoke'({ sessionId, hookType, input }, { options, signal }) {
    const hook = hookFor(options.hooks ?? {}, hookType);
    const output = await hook?.(hookInput(input), { sessionId }, signal);
    // Only undefined and null mean 'no opinion'; the runtime judges every other value.
    return output === undefined || output === null ? {} : { output };
  },
  async 'providerToken.getToken'(request, { options, signal }) {
    const provider = required(tokenProvider(options, request.providerName), 'providerToken.getToken');
    return { token: await provider(request, signal) };
  },
  async 'systemMessage.transform'({ sections }, { options }) {
    const transforms = transformsOf(options.systemMessage);
    const changed = Object.entries(sections).map(async ([section, { content }]) => {
      const transform = transforms.get(section);
      return [section, { content: transform ? await transform(content) : content }] as const;
    });
    return { sections: Object.fromEntries(await Promise.all(changed)) };
  },
  async 'toolArguments.check'({ toolName, arguments: given }, { options }) {
    const tool = options.tools?.find(({ name }) => name === toolName);
    const read = tool && (await readArguments(tool, given));
    return read && !read.success ? { valid: false, reason: read.reason } : { valid: true };
  },
  async 'userInput.request'({ sessionId, ...request }, { options, signal }) {
    const { onUserInputRequest: handler } = options;
    if (!handler) throw new RpcError(ErrorCode.internal, 'User input requested but no handler registered');
    return handler({ choices: [], allowFreeform: true, ...request }, { sessionId }, signal);
  },
};

function isCallback(method: string): method is SessionCallback {
  return Object.hasOwn(answers, method);
}

function required<H>(handler: H | undefined, method: string): H {
  if (handler === undefined) throw new RpcError(ErrorCode.internal, `No handler for ${method}`);
  return handler;
}

function tokenProvider(options: SessionConfigBase, name: string): BearerTokenProvider | undefined {
  const named = options.providers?.find((provider) => provider.name === name);
  return (named ?? (name === 'default' ? options.provider : undefined))?.bearerTokenProvider;
}
