import { configuredProvider } from '../../src/index.js';
import { collect } from '../local-server.js';

const provider = configuredProvider(
  { baseUrl: 'https://model.test', wireApi: 'responses', transport: 'websockets' },
  { environment: process.env, version: '1.0.0' },
);
process.stdout.write(JSON.stringify(await collect(provider)));
