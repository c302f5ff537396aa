import type { JsonObject, SessionEvent } from '@groundcrew/protocol';
import type { Draft, EphemeralDraft } from '../log/session-log.js';
import type { OpenCanvas, SessionState } from '../log/state.js';
import { ownEntry } from '../own-entry.js';
import type { AskedClient } from '../questions/asked-client.js';

/** A surface that a client can show and act upon. */
export interface CanvasDeclaration {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  readonly icon?: string;
  readonly inputSchema?: unknown;
  readonly actions?: readonly { readonly name: string; readonly description?: string }[];
}

/** A client and the canvases it brought. */
export interface CanvasProvider extends Pick<AskedClient, 'ask'> {
  readonly extensionId: string;
  readonly extensionName?: string;
  readonly canvases: readonly CanvasDeclaration[];
}

/** A request about a canvas that cannot be done. */
class CanvasRefused extends Error {
  override readonly name = 'CanvasRefused';
}

interface CanvasHost {
  readonly sessionId: string;
  readonly audience: { canvasProviders(): readonly CanvasProvider[] };
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<readonly SessionEvent[]>;
  emit(draft: EphemeralDraft): Promise<string>;
}

/** What a provider shows, as long as it is there. */
interface Shown {
  readonly url?: string;
  readonly status?: string;
}

/** So much of what a canvas is opened with is kept. */
const largestInput = 64 * 1024;
const mostOpen = 256;

/** The canvases of a session: clients bring them, the log keeps which are open. */
export class SessionCanvases {
  private readonly shown = new Map<string, Shown>();

  constructor(private readonly session: CanvasHost) {}

  /** Those one may open. */
  list() {
    return this.session.audience.canvasProviders().flatMap(discoveredOf);
  }

  async listOpen() {
    const { canvases = {} } = await this.session.state();
    return Object.values(canvases).map((canvas) => ({ ...canvas, ...this.shown.get(canvas.instanceId) }));
  }

  /** Has its provider show a canvas; one that is open already is shown anew. Throws CanvasRefused. */
  async open(
    wish: {
      readonly extensionId?: string | undefined;
      readonly canvasId: string;
      readonly instanceId: string;
      readonly input?: unknown;
    },
    signal: AbortSignal,
  ) {
    const { canvasId, instanceId, input } = wish;
    const provider = this.providerOf(wish);
    if (!provider) throw new CanvasRefused(`No canvas "${canvasId}" is registered.`);
    if (JSON.stringify(input ?? null).length > largestInput)
      throw new CanvasRefused(`The input of a canvas has at most ${largestInput} characters of JSON.`);
    const { canvases = {} } = await this.session.state();
    const before = ownEntry(canvases, instanceId);
    if (!before && Object.keys(canvases).length >= mostOpen)
      throw new CanvasRefused(`At most ${mostOpen} canvases are open at once; close one first.`);
    const { extensionId, extensionName } = provider;
    const place = { instanceId, extensionId, canvasId };
    const answer = await provider.ask(
      'canvas.open',
      { ...place, ...(input !== undefined && { input }), ...(await this.context()) },
      signal,
    );
    const { url, title, status } = answer;
    const kept = { ...place, ...(title !== undefined && { title }), ...(input !== undefined && { input }) };
    const shown = { ...(url !== undefined && { url }), ...(status !== undefined && { status }) };
    const named = extensionName === undefined ? {} : { extensionName };
    this.shown.set(instanceId, shown);
    await this.session.record({ type: 'session.canvas.recorded', data: kept });
    await this.session.emit({ type: 'session.canvas.opened', data: { ...kept, ...shown, ...named } });
    return { ...kept, ...shown, ...named };
  }

  /** Throws CanvasRefused. */
  async invoke(
    wish: { readonly instanceId: string; readonly actionName: string; readonly input?: unknown },
    signal: AbortSignal,
  ): Promise<unknown> {
    const { instanceId, actionName, input } = wish;
    const { canvas, open } = await this.find(instanceId);
    if (!canvas) {
      throw new CanvasRefused(
        `Canvas instance "${instanceId}" is not open. Currently open instances: [${open.map((id) => `"${id}"`).join(', ')}]. Verify open_canvas succeeded for "${instanceId}" and that you're passing the instanceId (not the canvasId).`,
      );
    }
    const provider = this.providerOf(canvas);
    if (!provider) throw gone(canvas);
    const { actions = [] } = provider.canvases.find(({ id }) => id === canvas.canvasId) ?? {};
    const names = actions.map(({ name }) => name);
    if (!names.includes(actionName)) {
      throw new CanvasRefused(
        `Unknown action "${actionName}" on canvas "${canvas.canvasId}". Known actions: [${names.join(', ')}]. Call list_canvas_capabilities to inspect the expected input schemas.`,
      );
    }
    const { extensionId } = provider;
    const place = { instanceId, extensionId, canvasId: canvas.canvasId, actionName };
    return provider.ask(
      'canvas.action.invoke',
      { ...place, ...(input !== undefined && { input }), ...(await this.context()) },
      signal,
    );
  }

  /** A canvas whose provider is gone is closed all the same. Throws CanvasRefused. */
  async close(instanceId: string, signal: AbortSignal): Promise<void> {
    const { canvas } = await this.find(instanceId);
    if (!canvas) throw new CanvasRefused(`Canvas instance "${instanceId}" is not open.`);
    const provider = this.providerOf(canvas);
    const { canvasId } = canvas;
    const extensionId = provider?.extensionId ?? canvas.extensionId;
    const place = { instanceId, extensionId, canvasId };
    await provider?.ask('canvas.close', { ...place, ...(await this.context()) }, signal);
    this.shown.delete(instanceId);
    await this.session.record({ type: 'session.canvas.removed', data: place });
    await this.session.emit({ type: 'session.canvas.closed', data: place });
  }

  private async find(instanceId: string) {
    const { canvases = {} } = await this.session.state();
    return { canvas: ownEntry(canvases, instanceId), open: Object.keys(canvases) };
  }

  /** The one that is meant; a canvas outlives its connection, so another one that brings it serves it too. */
  private providerOf({
    extensionId,
    canvasId,
  }: Pick<OpenCanvas, 'canvasId'> & { readonly extensionId?: string | undefined }):
    | CanvasProvider
    | undefined {
    const able = this.session.audience
      .canvasProviders()
      .filter(({ canvases }) => canvases.some(({ id }) => id === canvasId));
    return able.find((provider) => provider.extensionId === extensionId) ?? able[0];
  }

  private async context(): Promise<{ readonly sessionId: string; readonly session: JsonObject }> {
    const { context } = await this.session.state();
    return { sessionId: this.session.sessionId, session: { workingDirectory: context.cwd } };
  }
}

/** What clients are sent of a provider's canvases. */
export function discoveredOf({ extensionId, extensionName, canvases }: CanvasProvider) {
  return canvases.map(({ id, ...canvas }) => ({
    extensionId,
    canvasId: id,
    ...canvas,
    ...(extensionName !== undefined && { extensionName }),
  }));
}

function gone({ canvasId }: OpenCanvas): CanvasRefused {
  return new CanvasRefused(`The client that serves the canvas "${canvasId}" is not attached.`);
}
