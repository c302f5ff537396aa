import type { SessionAgents } from '../agents/session-agents.js';
import type { SessionSchedules } from '../history/session-schedules.js';
import type { SessionSkills } from '../skills/session-skills.js';
import type { SessionShells } from '../tools/shell/shells.js';
import type { Conversation } from './conversation.js';
import { ConversationKeeper } from './conversation-keeper.js';
import { farewell } from './session-events.js';
import type { SessionTools } from './session-tools.js';

/** The parts of a session that live and end with its copy in memory. */
interface KeptSession {
  readonly agents: SessionAgents;
  readonly schedules: SessionSchedules;
  readonly skills: SessionSkills;
  readonly tools: SessionTools;
}

/** Keeps a session's conversation in memory, and what lives beside it. */
export function keeperOf(
  session: KeptSession,
  {
    shells,
    openConversation,
  }: {
    readonly shells: SessionShells;
    openConversation(options: { readonly force?: boolean }): Promise<Conversation>;
  },
): ConversationKeeper {
  const { agents, schedules, skills, tools } = session;
  return new ConversationKeeper({
    openConversation,
    onLoaded: ({ subAgents }) => {
      agents.subAgents = subAgents;
      schedules.arm();
    },
    onDropped: async () => {
      schedules.disarm();
      await Promise.all([skills.close(), shells.close(), tools.mcp.close(), agents.closeServers()]);
    },
    goodbye: ({ state }, ending) => ({
      type: 'session.shutdown',
      data: farewell(state, tools.planner, ending),
    }),
    hasProcesses: () => shells.isOpen,
  });
}
