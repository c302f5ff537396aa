import { configuredProvider } from '../../src/index.js';
import { collect } from '../local-server.js';

const provider = configuredProvider(
  { baseUrl: 'https://model.test' },
  { environment: process.env, version: '1.0.0' },
);
const answers = [await collect(provider), await collect(provider)];
process.stdout.write(JSON.stringify(answers));
