import type { Session } from '@groundcrew/sdk';
import { cleanLine } from '../text/clean.js';
import { blocks } from '../text/markdown.js';
import { blocksOf } from '../text/markdown-blocks.js';
import { type Command, type CommandContext, Refusal } from './command.js';

/** Commands about how a session answers. */
export const settingCommands: Readonly<Record<string, Command>> = {
  '/model': {
    usage: '/model [ID]',
    help: 'the model that answers, or another one from now on',
    run: async ({ session, args, choose, print }) => {
      const { modelId } = await session.call('session.model.getCurrent');
      const wanted =
        args ||
        (await choose(`The model is ${modelId ?? 'the choice of the service'}`, await modelsOf(session)));
      if (!wanted) return;
      await session.setModel(wanted);
      print(`The model is ${wanted} from now on`);
    },
  },
  '/agent': {
    usage: '/agent [NAME|default]',
    help: 'the agent that leads, or another one from the next prompt on',
    run: async ({ session, args, choose, print, conversation }) => {
      const { agents } = await session.call('session.agent.list', { includeBuiltInAgents: true });
      const offered = agents.filter(({ userInvocable }) => userInvocable !== false);
      const options = [
        { label: 'the default agent', value: 'default' },
        ...offered.map(({ name, description }) => ({
          label: cleanLine(`${name}: ${description}`),
          value: name,
        })),
      ];
      const name = args || (await choose('Which agent leads?', options));
      if (!name) return;
      if (name === 'default') await session.call('session.agent.deselect');
      else await session.call('session.agent.select', { name });
      await conversation.readFacts();
      print(name === 'default' ? 'The default agent leads' : `${name} leads from the next prompt on`);
    },
  },
  '/plan': {
    usage: '/plan [on|off]',
    help: 'plans before anything is changed; without a word, shows the plan',
    run: async ({ session, args, print, conversation }) => {
      if (args === 'on' || args === 'off') {
        const { message, warning } = await session.call('session.mode.set', {
          mode: args === 'on' ? 'plan' : 'interactive',
        });
        await conversation.readFacts();
        print(warning ?? message ?? `The mode is ${conversation.mode}`);
        return;
      }
      if (args !== '') throw new Refusal('/plan takes on, off, or nothing');
      const { exists, content } = await session.call('session.plan.read');
      print(`The mode is ${conversation.mode}`);
      if (exists && content) print(...blocks(blocksOf(content), 100));
      else print('There is no plan; /plan on has one made before anything is changed');
    },
  },
  '/permissions': {
    usage: '/permissions [MODE|reset]',
    help: 'what is asked before it runs; reset takes back what was approved in this session',
    run: permissions,
  },
  '/mcp': {
    usage: '/mcp [enable|disable|restart NAME]',
    help: 'the MCP servers and their states',
    run: mcp,
  },
  '/skills': {
    usage: '/skills [enable|disable NAME]',
    help: 'the skills there are; /NAME uses one',
    run: skills,
  },
};

async function modelsOf(session: Session) {
  const { list } = await session.call('session.model.list');
  const models = list as readonly { readonly id?: string; readonly name?: string }[]; // services describe models their own way
  return models.flatMap(({ id, name = '' }) =>
    id === undefined ? [] : [{ label: cleanLine(`${id}  ${name}`), value: id }],
  );
}

const permissionModes: Readonly<Record<string, string>> = {
  manual: 'asks before what changes something',
  assisted: 'asks, but for what certainly only reads',
  'allow-all': 'asks nothing',
};

async function permissions({ session, args, print, choose }: CommandContext): Promise<void> {
  if (args === 'reset') {
    await session.call('session.permissions.resetSessionApprovals');
    print('What was approved for this session is asked again');
    return;
  }
  const { mode } = await session.call('session.permissions.getMode');
  const options = Object.entries(permissionModes).map(([value, what]) => ({
    label: `${value}: ${what}`,
    value,
  }));
  const wanted = args || (await choose(`The mode of permissions is ${mode}`, options));
  if (!wanted) return;
  if (!Object.hasOwn(permissionModes, wanted))
    throw new Refusal(`There is no mode ${wanted}; there is ${Object.keys(permissionModes).join(', ')}`);
  type Mode = Parameters<typeof session.call<'session.permissions.setMode'>>[1]['mode'];
  const set = await session.call('session.permissions.setMode', { mode: wanted as Mode });
  print(`The mode of permissions is ${set.mode}`);
}

async function mcp({ session, args, print }: CommandContext): Promise<void> {
  const [verb = '', serverName = ''] = args.split(/\s+/);
  if (!/^(?:|enable|disable|restart)$/.test(verb)) throw new Refusal('/mcp takes enable, disable or restart');
  if (verb !== '' && serverName === '') throw new Refusal(`/mcp ${verb} needs the name of a server`);
  if (verb === 'enable') await session.call('session.mcp.enable', { serverName });
  else if (verb === 'disable') await session.call('session.mcp.disable', { serverName });
  else if (verb === 'restart') await session.call('session.mcp.restartServer', { serverName });
  const { servers } = await session.call('session.mcp.list');
  if (servers.length === 0) print('There is no MCP server; docs/mcp.md says where they are named');
  for (const { name, status, error } of servers)
    print(cleanLine(`${name}  ${status}${error === undefined ? '' : `: ${error}`}`));
}

async function skills({ session, args, print }: CommandContext): Promise<void> {
  const [verb = '', name = ''] = args.split(/\s+/);
  if (!/^(?:|enable|disable)$/.test(verb)) throw new Refusal('/skills takes enable or disable');
  if (verb !== '' && name === '') throw new Refusal(`/skills ${verb} needs the name of a skill`);
  const known = await session.call('session.skills.list');
  // The runtime takes any name: a skill may come later. One that is mistyped is told here.
  if (verb !== '' && !known.skills.some((each) => each.name === name))
    throw new Refusal(`There is no skill ${name}; /skills lists them`);
  if (verb === 'enable') await session.call('session.skills.enable', { name });
  else if (verb === 'disable') await session.call('session.skills.disable', { name });
  const { skills: found } = verb === '' ? known : await session.call('session.skills.list');
  if (found.length === 0) print('There is no skill');
  for (const each of found) print(cleanLine(`${each.enabled ? '●' : '○'} ${each.name}  ${each.description}`));
}
