import { Workers } from '../../src/exec/workers.js';

/** A runtime as small as can be: asks a worker for the statements it is given, which never end. */
const [, , entry = '', file = '', query = ''] = process.argv;
const workers = new Workers({ entry });
await workers.run('sql', { file, query: 'SELECT 1' }, { milliseconds: 20_000 });
void workers.run('sql', { file, query }, { milliseconds: 600_000 });
console.log('started');
