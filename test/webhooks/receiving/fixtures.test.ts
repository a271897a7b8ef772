import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { payloadJsonSchema } from '../../../src/webhooks/payload-schema.ts';
import { accept, isRightAnswer, refuse } from '../../../src/webhooks/receiving/fixture.ts';
import { makeFixtures } from '../../../src/webhooks/receiving/fixtures.ts';
import { verifyDelivery } from '../../../src/webhooks/receiving/verify.ts';

const nowMs = 1_795_000_000_000;
const secret = 'of a receiver';

function aKit() {
  let count = 0;
  const newId = () => {
    count += 1;
    return `id-${count}`;
  };
  return makeFixtures({ secret, nowMs, newId });
}

const only = (name: string) => aKit().filter((fixture) => fixture.name === name);

describe('the test kit for receivers', () => {
  it('has genuine deliveries that are to be accepted, and others that are not', () => {
    const judged = aKit().map(({ name, headers, body, expected }) => {
      const given = new Map(Object.entries(headers));
      const { valid } = verifyDelivery({ secret, headers: given, body, nowSeconds: nowMs / 1000 });
      return [name, valid ? 'accept' : 'refuse', expected.answer];
    });
    expect(judged.filter(([, found, expected]) => found !== expected)).toEqual([]);
    expect(new Set(judged.map(([, , expected]) => expected))).toEqual(new Set(['accept', 'refuse']));
  });

  it('has bodies that the published schema accepts', () => {
    const validate = new Ajv2020().compile(payloadJsonSchema());
    const wrong = aKit().filter(({ body }) => !validate(JSON.parse(body.toString())));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('sends nothing twice but the duplicate', () => {
    const ids = aKit().map(({ headers }) => headers['x-slipway-delivery']);
    expect(new Set(ids).size).toBe(ids.length - 1);
    const [[good], [duplicated]] = [only('good'), only('duplicated')];
    expect(duplicated?.headers).toEqual({ ...good?.headers, 'x-slipway-attempt': '2' });
    expect(duplicated?.body).toEqual(good?.body);
  });

  it('has the newer state before the older one', () => {
    const told = aKit()
      .filter(({ name }) => name.startsWith('reordered'))
      .map(({ body }) => (JSON.parse(body.toString()) as { stateVersion: number }).stateVersion);
    expect(told).toEqual([3, 2]);
  });

  it('has a late one with nothing wrong but its time', () => {
    const [late] = only('late');
    const headers = new Map(Object.entries(late?.headers ?? {}));
    const body = late?.body ?? Buffer.alloc(0);
    const causes = verifyDelivery({ secret, headers, body, nowSeconds: nowMs / 1000 }).checks.flatMap(
      (check) => check.causes,
    );
    expect(causes).toMatchObject([{ code: 'timestamp-too-old' }]);
  });

  it.each([
    [accept(''), [200, 204, 299], [199, 301, 401, 500]],
    [refuse, [400, 401, 403], [200, 204, 302, 404, 410, 500]],
    [{ ...refuse, acceptedWithoutTime: true }, [204, 401], [302, 500]],
  ])('judges answers by what is expected: %o', (expected, right, wrong) => {
    expect(right.filter((status) => !isRightAnswer(expected, status))).toEqual([]);
    expect(wrong.filter((status) => isRightAnswer(expected, status))).toEqual([]);
  });
});
