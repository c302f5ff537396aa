import { wires } from '@groundcrew/models';
import { chatFault } from './strict-chat.js';
import { messagesFault } from './strict-messages.js';
import { responsesFault } from './strict-responses.js';
import { wireContract } from './wire-contract.js';

const services = [
  ['openai-chat', chatFault],
  ['openai-responses', responsesFault],
  ['anthropic-messages', messagesFault],
] as const;

for (const [name, faultIn] of services)
  wireContract({
    name,
    faultIn,
    makeWire: (newId) => wires[name].load({ newId }),
    fixtures: new URL(`../../models/fixtures/${name}/`, import.meta.url),
  });
