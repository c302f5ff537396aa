import { expect, test } from 'vitest';
import { addressOf } from './connection-options.js';

test.each([
  ['8080', '127.0.0.1', 8080],
  ['localhost:8080', 'localhost', 8080],
  ['http://example.org:8080', 'example.org', 8080],
  ['http://10.0.0.1:1/', '10.0.0.1', 1],
  ['[::1]:8080', '::1', 8080],
  ['http://[::1]:8080/', '::1', 8080],
  [' 8080 ', '127.0.0.1', 8080],
])('%s is an address', (url, host, port) => {
  expect(addressOf(url)).toEqual({ host, port });
});

test.each([
  '',
  'localhost',
  '0',
  '65536',
  'http://host',
  'https://host:1',
  'host:x',
  'a:b@host:1',
  'host:1/path',
])('%j is none, and the error says what would be', (url) => {
  expect(() => addressOf(url)).toThrow(
    `Cannot connect to ${JSON.stringify(url)}: expected 8080, host:8080 or http://host:8080`,
  );
});
