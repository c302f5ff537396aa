import { storeContract } from '@groundcrew/testkit';
import { sqliteWorld } from './world.js';

storeContract('the embedded store in group mode', () => sqliteWorld('group'));
