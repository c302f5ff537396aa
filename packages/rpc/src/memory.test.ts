import { describe } from 'vitest';
import { channelContract } from '../test/channel-contract.js';
import { channelPair } from './memory.js';

describe('two channels in one process', () => {
  channelContract(async () => {
    const [left, right] = channelPair();
    return { left, right };
  });
});
