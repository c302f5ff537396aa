// A skill: a folder with instructions, of which the model has the name at first, and the text when it wants it.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@groundcrew/sdk';
import { callTools, say, scriptedModel, temporaryWorkplace } from '@groundcrew/testing';

using workplace = temporaryWorkplace();
const skills = join(workplace.workingDirectory, 'skills');
mkdirSync(join(skills, 'greet'), { recursive: true });
writeFileSync(
  join(skills, 'greet', 'SKILL.md'),
  '---\nname: greet\ndescription: Greets visitors. Use it for every greeting.\n---\n\nGreet in two languages.\n',
);

await using client = new Client(workplace.clientOptions);
await using model = await scriptedModel(
  callTools({ name: 'skill', arguments: { skill: 'greet' } }),
  say('Hello, and guten Tag!'),
);
await using session = await client.createSession({ ...model.settings, skillDirectories: [skills] });
session.on('skill.invoked', ({ data }) => console.log(`The model took up ${data.name}`));
const answer = await session.sendAndWait('Greet the visitor');
console.log(answer?.data.content);
assert.equal(answer?.data.content, 'Hello, and guten Tag!');

// Before it is wanted, a skill costs no more than its description.
const [first, second] = model.requests.map(({ body }) => JSON.stringify(body));
assert.match(first ?? '', /Greets visitors/);
assert.doesNotMatch(first ?? '', /two languages/);
assert.match(second ?? '', /Greet in two languages/);
model.verify();
