/** Methods of a session whose handlers are loaded by the first call of one of them. */
export const rareMethods = [
  'session.autopilotObjective.getState',
  'session.contentExclusion.checkPaths',
  'session.customizations.reload',
  'session.mcp.listConfigured',
  'session.mcp.moveLoadingToBackground',
  'session.mcp.prompts.get',
  'session.mcp.prompts.list',
  'session.provider.sync',
  'session.provider.withdraw',
  'session.tools.execute',
  'session.tools.getSubagentSettings',
  'session.tools.listPendingRequests',
  'session.tools.set',
  'session.workspaces.addSummary',
  'session.workspaces.ensure',
  'session.workspaces.truncateSummaries',
  'session.workspaces.updateMetadata',
] as const;

export type RareMethod = (typeof rareMethods)[number];

/** The same for methods that change the order of waiting prompts. */
export const queueArrangement = [
  'session.queue.duplicateAt',
  'session.queue.insertAt',
  'session.queue.moveItem',
  'session.queue.removeAt',
  'session.queue.sendNow',
  'session.queue.setDrainPaused',
  'session.queue.updateText',
] as const;

export type QueueArrangement = (typeof queueArrangement)[number];
