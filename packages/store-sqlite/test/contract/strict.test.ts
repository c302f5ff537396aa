import { storeContract } from '@groundcrew/testkit';
import { sqliteWorld } from './world.js';

storeContract('the embedded store in strict mode', () => sqliteWorld('strict'));
