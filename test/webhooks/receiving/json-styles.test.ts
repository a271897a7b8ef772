import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { jsonStyles } from '../../../src/webhooks/receiving/json-styles.ts';

const text = '{"b":"l’été 🎉 </b> & \\u2028","a":[1,{"x":[],"y":{}},"\\n ,: "],"n":null}';

function styled(style: RegExp): string {
  const found = jsonStyles(text)?.find(([name]) => style.test(name));
  return found?.[1] ?? '';
}

describe('the styles of JSON', () => {
  it.each([
    ['json.dumps(v, ensure_ascii=False)', /spaces behind/],
    ['json.dumps(v)', /spaces and ASCII/],
    ['json.dumps(v, separators=(",", ":"))', /compact JSON, ASCII/],
    ['json.dumps(v, separators=(",", ":"), sort_keys=True, ensure_ascii=False)', /keys sorted/],
  ])('are those of Python: %s', (expression, style) => {
    const program = `import json, sys\nv = json.load(sys.stdin)\nsys.stdout.buffer.write(${expression}.encode())`;
    expect(styled(style)).toBe(execFileSync('python3', ['-c', program], { input: text }).toString());
  });

  it('are none for what is no JSON', () => {
    expect(jsonStyles('{')).toBeNull();
  });
});
