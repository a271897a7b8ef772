import { expect, it } from 'vitest';
import { affectedBy } from '../../src/stacks/affected.ts';
import { compileGlob } from '../../src/stacks/glob.ts';
import { indexPaths } from '../../src/stacks/path-index.ts';
import { aStack, stackSettings } from '../support/builders.ts';
import { fc } from '../support/fast-check.ts';

/** Characters around the slash in their order: "a-b" and "a.b" stand between "a" and "a/b". */
const word = fc.string({ unit: fc.constantFrom('a', 'b', '-', '.', '0', 'é'), minLength: 1, maxLength: 3 });
const path = fc.array(word, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
const paths = fc.array(path, { maxLength: 20 });

it('finds what is a directory or lies below it, as a look at every path would', () => {
  fc.assert(
    fc.property(paths, path, (all, directory) => {
      const found = [...indexPaths(all).under(directory)];
      const wanted = all.filter((each) => each === directory || each.startsWith(`${directory}/`));
      // One path told twice is found once, or as often as it is told.
      expect(new Set(found)).toEqual(new Set(wanted));
    }),
  );
});

it('holds all of them below the root', () => {
  fc.assert(
    fc.property(paths, (all) => {
      expect([...indexPaths(all).under('')].toSorted()).toEqual(all.toSorted());
    }),
  );
});

const segment = fc.oneof(word, fc.constantFrom('**', '*', 'a*', '?', '[ab]', '{a,b}', 'a{,-}'));
const glob = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
const stackWith = (globs: readonly string[]) =>
  aStack({
    settings: stackSettings({ projectRoot: 'no/path/has/this/root', additionalProjectGlobs: globs }),
  });

it('leaves out no path that a glob matches', () => {
  fc.assert(
    fc.property(paths, fc.array(glob, { minLength: 1, maxLength: 3 }), (all, globs) => {
      const compiled = globs.map(compileGlob).filter((each) => each.kind === 'glob');
      fc.pre(compiled.length === globs.length);
      const isMatched = all.some((each) =>
        compiled.some((one) => one.matches(each, { left: Number.POSITIVE_INFINITY })),
      );

      expect(affectedBy(all)(stackWith(globs)) !== null).toBe(isMatched);
    }),
    { numRuns: 2000 },
  );
});

it.each<[glob: string, roots: readonly string[]]>([
  ['modules/vpc/**', ['modules/vpc']],
  ['modules/v*/x', ['modules']],
  ['package.json', ['package.json']],
  ['**/*.yaml', ['']],
  ['{modules,shared}/**', ['modules', 'shared']],
  ['{a,a/b}/**', ['a']],
  ['{a,*}/b', ['']],
])('knows where a match of %s can be', (text, roots) => {
  expect(compileGlob(text)).toMatchObject({ roots });
});

it('asks a glob that stacks have in common once', () => {
  const paths = Array.from({ length: 3000 }, (_, index) => `src/${'a'.repeat(200)}${index}`);
  const affects = affectedBy(paths);
  const answers = Array.from({ length: 2000 }, () => affects(stackWith(['**/*.yaml'])));
  expect(new Set(answers)).toEqual(new Set([null]));
});
