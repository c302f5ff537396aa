import { errorCodes, type Methods } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import type { SessionHandlers } from '../handler.js';

type Names =
  | 'session.completions.getTriggerCharacters'
  | 'session.completions.request'
  | 'session.extensions.sendAttachmentsToMessage'
  | 'session.lsp.initialize';

export const sessionHostHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.completions.getTriggerCharacters'() {
    return { triggerCharacters: [] };
  },
  async 'session.completions.request'() {
    return { items: [] };
  },
  async 'session.extensions.sendAttachmentsToMessage'({ attachments }, { session, client }) {
    if (!client.extension) {
      throw new RpcError(
        errorCodes.requestFailed,
        'session.extensions.sendAttachmentsToMessage may only be called from an extension-owned connection.',
        { code: 'extension_context_requires_extension_caller' },
      );
    }
    await session.emit({ type: 'session.extensions.attachments_pushed', data: { attachments } });
    return null;
  },
  async 'session.lsp.initialize'(_params, { session }) {
    const message = "'session.lsp.initialize' has no effect: this runtime starts no language servers.";
    await session.record({ type: 'session.warning', data: { warningType: 'lsp', message } });
    return null;
  },
};
