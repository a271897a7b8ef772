import { describe, expect, it } from 'vitest';
import { type Answer, inEveryOrder, type RaceWorld } from './race-world.ts';

const timeout = 30_000;
const plain = 'https://receiver.example/hook';
const sameButFancy = 'HTTPS://Receiver.EXAMPLE:443/hook';

async function hooksOf(world: RaceWorld): Promise<string> {
  const stack = await world.addStack();
  return `/stacks/acme/${stack.id}/webhooks`;
}

const hasWon = ({ status }: Answer) => status === 200 || status === 201;

/** One of the two, with the other refused. */
function winnerOf(ada: Answer, bob: Answer): string {
  const [winner, loser] = hasWon(ada) ? [ada, bob] : [bob, ada];
  expect(hasWon(winner)).toBe(true);
  expect(loser).toMatchObject({ status: 409, body: { code: 'endpoint-not-unique' } });
  return hasWon(ada) ? 'ada won' : 'bob won';
}

describe('an endpoint that two want at once', { timeout }, () => {
  it('is given to one, however it is written', () =>
    inEveryOrder(['ada won', 'bob won'], async (world) => {
      const path = await hooksOf(world);

      const [ada, bob] = await world.race(() => [
        world.ask('ada', 'POST', path, { endpoint: plain }),
        world.ask('bob', 'POST', path, { endpoint: sameButFancy }),
      ]);

      const list = await world.ask('ada', 'GET', path);
      expect(list.body).toMatchObject({ items: [{ endpoint: hasWon(ada) ? plain : sameButFancy }] });
      return winnerOf(ada, bob);
    }));

  it('is given to a new webhook, or to one that moves there', () =>
    inEveryOrder(['ada won', 'bob won'], async (world) => {
      const path = await hooksOf(world);
      const { body } = await world.ask('ada', 'POST', path, { endpoint: `${plain}/before` });

      const [ada, bob] = await world.race(() => [
        world.ask('ada', 'POST', path, { endpoint: plain }),
        world.ask('bob', 'PATCH', `/webhooks/${body['id']}`, { endpoint: sameButFancy }),
      ]);

      return winnerOf(ada, bob);
    }));
});

describe('of two changes of a webhook at once', { timeout }, () => {
  it('both count when they touch different headers', () =>
    inEveryOrder(['both'], async (world) => {
      const path = await hooksOf(world);
      const { body } = await world.ask('ada', 'POST', path, { endpoint: plain });
      const change = (who: 'ada' | 'bob') =>
        world.ask(who, 'PATCH', `/webhooks/${body['id']}`, { headers: { [`x-${who}`]: 'v' } });

      await world.race(() => [change('ada'), change('bob')]);

      const { body: now } = await world.ask('ada', 'GET', `/webhooks/${body['id']}`);
      expect(now).toMatchObject({ headers: { 'x-ada': '***', 'x-bob': '***' } });
      return 'both';
    }));

  it('the deletion wins, sooner or later', () =>
    inEveryOrder(['changed before', 'too late'], async (world) => {
      const path = await hooksOf(world);
      const { body } = await world.ask('ada', 'POST', path, { endpoint: plain, secret: 'a' });
      const one = `/webhooks/${body['id']}`;

      const [changed, regenerated, deleted] = await world.race(() => [
        world.ask('ada', 'PATCH', one, { enabled: false }),
        world.ask('ada', 'POST', `${one}/secret/regenerate`, {}),
        world.ask('bob', 'DELETE', one),
      ]);

      expect(deleted.status).toBe(204);
      for (const { status } of [changed, regenerated]) expect([200, 404]).toContain(status);
      expect((await world.ask('ada', 'GET', one)).status).toBe(404);
      return changed.status === 200 ? 'changed before' : 'too late';
    }));
});
