import type { Source } from '../source.ts';

type Questions = Pick<Source, 'compare' | 'resolve'>;

/** The same source, asked each question once: many stacks of a repository often stand at the same commit. */
export function askOnce(source: Questions): Questions {
  const asked = new Map<string, Promise<unknown>>();

  function once<T>(question: readonly unknown[], ask: () => Promise<T>): Promise<T> {
    const key = JSON.stringify(question);
    const answer = (asked.get(key) as Promise<T> | undefined) ?? ask();
    asked.set(key, answer);
    return answer;
  }

  return {
    compare: (repository, base, head) =>
      once(['compare', repository.id, base, head], () => source.compare(repository, base, head)),
    resolve: (repository, branch, sha) =>
      once(['resolve', repository.id, branch, sha], () => source.resolve(repository, branch, sha)),
  };
}
