import { expect, test } from 'vitest';
import { checkedHeaders, expandVariables, mergedHeaders } from './headers.js';

test('names are written small, values trimmed', () => {
  expect(checkedHeaders({ 'X-Team': ' blue ' })).toEqual({ 'x-team': 'blue' });
});

test.each([
  [{ 'x y': '1' }, '"x y" is no name for a header'],
  [{ '': '1' }, '"" is no name for a header'],
  [{ 'x-a': 'secret\r\nhost: evil' }, 'The value of the header x-a has characters that cannot be sent'],
  [{ 'x-a': 'naïve €' }, 'The value of the header x-a has characters that cannot be sent'],
  [{ 'Content-Length': '1' }, 'The header content-length cannot be set'],
])('the header %j is a mistake in the configuration', (headers, message) => {
  expect(() => checkedHeaders(headers)).toThrow(expect.objectContaining({ kind: 'configuration', message }));
});

test('the headers of one call add to the others and never replace authentication or framing', () => {
  const base = { authorization: 'Bearer a', 'content-type': 'application/json', 'x-team': 'blue' };
  const extra = {
    Authorization: 'Bearer b',
    'API-Key': 'b',
    'X-Api-Key': 'b',
    'Content-Type': 'text/plain',
    'Content-Length': '1',
    Host: 'evil',
    'X-Team': 'red',
    traceparent: '00-1-2-01',
  };
  expect(mergedHeaders(base, extra)).toEqual({ ...base, 'x-team': 'red', traceparent: '00-1-2-01' });
  expect(mergedHeaders(base, undefined)).toBe(base);
});

test('what begins many variables and ends none stays as it is, in a time that grows with it', () => {
  const began = performance.now();
  const text = '$'.concat('{A:-').repeat(200_000);
  expect(expandVariables(`$${'{A:-b}'} ${text}`, {})).toBe(`b ${text}`);
  expect(performance.now() - began).toBeLessThan(2000);
});

test('variables are taken from the environment given, or from their default', () => {
  const environment = { TEAM: 'blue', EMPTY: '' };
  expect(
    expandVariables(`\${TEAM}-\${NONE:-green}-\${EMPTY:-grey}-\${EMPTY}-\${NONE:-}-$TEAM`, environment),
  ).toBe('blue-green-grey---$TEAM');
  expect(() => expandVariables(`\${SECRET_KEY}`, environment)).toThrow(
    expect.objectContaining({
      kind: 'configuration',
      message: 'The environment variable SECRET_KEY is not set',
    }),
  );
});
