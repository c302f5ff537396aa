import type { EventData } from '@groundcrew/protocol';
import type { PlacedSkill } from './skill-library.js';

/** A skill as clients see it. */
export function shownSkill(
  skill: PlacedSkill & { readonly enabled: boolean },
): EventData<'session.skills_loaded'>['skills'][number] {
  const { name, description, source, userInvocable, enabled, path, argumentHint } = skill;
  return {
    name,
    description,
    source,
    userInvocable,
    enabled,
    path,
    ...(userInvocable && { commandName: name }),
    ...(argumentHint !== undefined && { argumentHint }),
  };
}
