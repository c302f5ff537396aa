import type { Methods } from '@groundcrew/protocol';
import type { Handlers } from '../handler.js';

type Names = 'llmInference.httpResponseChunk' | 'llmInference.httpResponseStart' | 'llmInference.setProvider';

export const llmInferenceHandlers: Handlers<Pick<Methods, Names>> = {
  async 'llmInference.httpResponseChunk'(params, { client, inference }) {
    return { accepted: (await inference.callsOf(client)?.chunk(params)) ?? false };
  },
  async 'llmInference.httpResponseStart'(params, { client, inference }) {
    return { accepted: inference.callsOf(client)?.start(params) ?? false };
  },
  async 'llmInference.setProvider'(_params, { client, inference }) {
    await inference.setProvider(client);
    return { success: true };
  },
};
