import { openaiChatWire } from '@groundcrew/models';
import { wireContract } from './wire-contract.js';

wireContract({
  name: 'openai-chat',
  makeWire: (newId) => openaiChatWire({ newId }),
  fixtures: new URL('../../models/fixtures/openai-chat/', import.meta.url),
});
