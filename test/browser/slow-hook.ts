import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Installation } from '../../demo/installation.ts';

/** A hook that says what a test has it say, when the test has it say so. */
export interface SlowHook {
  say(text: string): Promise<void>;
  end(): Promise<void>;
}

/** For a list of hooks: prints the files `say-1`, `say-2` ... of the checkout as they come, until there is `end`. */
export const slowHook = [
  'n=1',
  'while :; do',
  '  if [ -e say-$n ]; then cat say-$n; n=$((n + 1))',
  '  elif [ -e end ]; then break',
  '  else sleep 0.05',
  '  fi',
  'done',
].join('\n');

/** Of a run that is in its hook. */
export function slowHookOf({ dataDir }: Pick<Installation, 'dataDir'>, runId: string): SlowHook {
  const tree = join(dataDir, 'workspaces', runId, 'tree');
  let said = 0;

  /** The hook must not see half of it. */
  async function put(name: string, text: string): Promise<void> {
    await writeFile(join(tree, `new-${name}`), text);
    await rename(join(tree, `new-${name}`), join(tree, name));
  }

  return {
    async say(text) {
      said += 1;
      await put(`say-${said}`, text);
    },
    end: () => put('end', ''),
  };
}
