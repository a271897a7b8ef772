import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kinds } from '../../src/policies/kinds.ts';
import { policyKinds } from '../../src/policies/policy.ts';

const docs = join(import.meta.dirname, '../../docs');
const text = readFileSync(join(docs, 'policies.md'), 'utf8');
const shared = ['sample', 'flag', 'reset_flag'];

/** What stands below a heading, up to the next one. */
function section(heading: string): string {
  const [, rest = ''] = text.split(`\n## ${heading}\n`);
  return rest.split('\n## ')[0] ?? '';
}

const rulesIn = (part: string): readonly string[] =>
  [...part.matchAll(/^\| (`[^|]+) \| (?:true|set|string|object)/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );

describe('docs/policies.md', () => {
  it.each(policyKinds)('has the rules of %s, and no other', (kind) => {
    const own = Object.keys(kinds[kind].rules).filter((rule) => !shared.includes(rule));
    expect([...rulesIn(section(kind))].sort()).toEqual(own.sort());
  });

  it('has the rules of all kinds', () => {
    expect(rulesIn(section('How a policy is judged'))).toEqual(shared);
  });

  it('points to schemas that are there', () => {
    const files = policyKinds.flatMap((kind) =>
      ['input', 'result'].map((which) => `${kind.toLowerCase()}.${which}.schema.json`),
    );
    const there = readdirSync(join(docs, 'policies')).filter((name) => name.endsWith('.json'));
    expect(there.toSorted()).toEqual(files.toSorted());
  });
});
