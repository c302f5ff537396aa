import { ScriptedApi, type ScriptedModel, type ScriptedReply, temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { openInProcess } from '../src/in-process.js';

type InProcessOptions = Parameters<typeof openInProcess>[0];

/** A home and a scripted service for the tests of a file, and runtimes in this process that end with each test. */
export function inProcessWorld() {
  const home = temporaryDirectory();
  const runtimes: Awaited<ReturnType<typeof openInProcess>>[] = [];
  let api: ScriptedApi;
  beforeAll(async () => {
    api = await ScriptedApi.open();
  });
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) await runtime.close();
  });
  afterAll(async () => {
    await api.close();
    home.remove();
  });
  return {
    home,
    script: (...replies: readonly ScriptedReply[]): ScriptedModel => api.script(...replies),
    open: async (options: InProcessOptions) => {
      const runtime = await openInProcess(options);
      runtimes.push(runtime);
      return runtime;
    },
  };
}
