import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { LiveRuntime, callTools, hold, providerOf, say } from './packages/testkit/src/index.js';
const runtime = new (LiveRuntime as any)({ flags: ['--stdio'] });
await runtime.start();
const { client } = runtime;
const secret = 'Xq7-nobody-may-read-this';
const filesWith = (text: string) => readdirSync(runtime.home.path, { recursive: true, withFileTypes: true }).filter((e: any) => e.isFile()).map((e: any) => join(e.parentPath, e.name)).filter((f: string) => existsSync(f) && readFileSync(f).includes(text));
const step = async (name: string, work: () => Promise<unknown>) => { try { const r = await work(); console.log('ok  ', name, r === undefined ? '' : JSON.stringify(r).slice(0, 200)); } catch (e: any) { console.log('FAIL', name, String(e.message).slice(0, 300)); } };
const out = join(runtime.home.path, 'work');
{
  const model = runtime.script(
    callTools({ id: 'c1', name: 'bash', arguments: { command: `for i in $(seq 3000); do echo ${secret}; done`, description: 'x' } }),
    callTools({ id: 'c2', name: 'sql', arguments: { description: 'x', query: `CREATE TABLE t(a); INSERT INTO t VALUES('${secret}')` } }),
    callTools({ id: 'c3', name: 'create', arguments: { path: join(out, 'f.txt'), file_text: 'innocent' } }),
    callTools({ id: 'c4', name: 'task', arguments: { agent_type: 'general-purpose', description: secret, prompt: secret, name: 'n' } }),
    say(secret), say(secret), say(secret), say(secret), say(secret), say(secret), say(secret));
  const session = await client.create({ ...providerOf(model), enableFileChangeTracking: true, largeOutput: { enabled: true, maxSizeBytes: 4096 } });
  await session.call('session.permissions.setMode', { mode: 'allow-all' });
  await step('turn', async () => { await session.turn(`Keep ${secret}`, { attachments: [{ type: 'blob', data: Buffer.from(secret).toString('base64'), mimeType: 'text/plain', displayName: secret + '.txt' }, { type: 'selection', filePath: 'x.ts', displayName: 'x', text: secret, selection: { start: { line: 0, character: 0 }, end: { line: 1, character: 1 } } }] }); return session.events.filter((e: any) => e.type.startsWith('tool.execution_complete')).map((e: any) => e.data.success); });
  for (const [m, p] of Object.entries({
    'session.workspaces.saveLargePaste': { content: secret }, 'session.workspaces.createFile': { path: 'n.txt', content: secret }, 'session.plan.update': { content: secret },
    'session.name.set': { name: secret }, 'session.log': { message: secret }, 'session.workspaces.writeAutopilotObjective': { content: secret },
    'session.workspaces.addSummary': { title: secret, content: secret, summary: secret }, 'session.workspaces.updateMetadata': { name: secret },
    'sessions.save': {}, 'session.history.compact': {}, 'session.todos.list': {}, 'session.schedule.add': { prompt: secret, every: '1h', interval: 3600 }, 'session.schedule.create': { prompt: secret }, 'session.shell.exec': { command: `echo ${secret}`, timeout: 0 }, 'session.extensions.list': {}, 'session.ui.ephemeralQuery': { prompt: secret, question: secret },
  })) await step(m, () => session.call(m, p));
  await step('search', () => client.call('sessions.search', { query: 'nobody' }));
  await step('clientmeta', () => client.call('sessions.setClientMetadata', { sessionId: session.sessionId, metadata: { a: secret } }));
  await step('fork', () => client.call('sessions.fork', { sessionId: session.sessionId }));
  console.log('files before', filesWith(secret).map((f) => f.replace(runtime.home.path, '')));
  const { sessions } = await client.call<any>('session.list', {});
  for (const { sessionId } of sessions) await step('delete ' + sessionId, () => client.call('session.delete', { sessionId }));
  console.log('files after', filesWith(secret).map((f) => f.replace(runtime.home.path, '')));
}
{ // delete while busy in this process
  const held = hold();
  const model = runtime.script(callTools({ id: 'c1', name: 'bash', arguments: { command: `while sleep 0.1; do echo ${secret} >> "$PWD/../late.txt"; done`, description: 'x', mode: 'async' } }), held.reply);
  const session = await client.create({ ...providerOf(model) });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  const from = client.frames.length;
  await session.send(`Busy ${secret}`);
  await model.asked(2);
  await step('delete busy', () => client.call('session.delete', { sessionId: session.sessionId }));
  held.release();
  await wait(700);
  console.log(client.order(from).slice(-12).join(' | '));
  console.log('files', filesWith(secret).map((f) => f.replace(runtime.home.path, '')));
  await step('send after', () => session.failure('session.send', { prompt: 'x' }));
  await step('list', () => client.call('session.list', {}));
}
{ // delete from another process while it runs a background shell here, idle
  const model = runtime.script(callTools({ id: 'c1', name: 'bash', arguments: { command: `sleep 600`, description: 'x', mode: 'async' } }), say('ok'));
  const session = await client.create({ ...providerOf(model) });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.turn(`Back ${secret}`);
  const other = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
  await step('delete from other', () => other.call('session.delete', { sessionId: session.sessionId }));
  await step('read_bash after', () => session.failure('session.tasks.list', {}));
  console.log('files', filesWith(secret).map((f) => f.replace(runtime.home.path, '')));
  await step('destroy', () => session.call('session.destroy'));
  console.log('files', filesWith(secret).map((f) => f.replace(runtime.home.path, '')));
}
try { runtime.check(); } catch (e: any) { console.log('CHECK', String(e.message).slice(0, 800)); }
await runtime.stop();
