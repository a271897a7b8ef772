import { type Files, firstVersion, secondVersion } from '../../../demo/programs.ts';
import { type PulumiStory, up } from './story.ts';

/** The sample programs of the demo, in its first and its second version. */
export async function sampleStories(): Promise<PulumiStory[]> {
  const [first, second] = [await firstVersion(), await secondVersion()];
  const runtimes = [...new Set(Object.keys(first).map((path) => path.split('/')[0] ?? ''))];
  return runtimes.map((runtime) => ({
    name: `program-${runtime}`,
    stages: [
      { run: 'select', files: projectOf(runtime, first) },
      { run: 'preview', record: `program-${runtime}-create` },
      up(),
      { run: 'preview', record: `program-${runtime}-change`, files: projectOf(runtime, second) },
    ],
  }));
}

/** Its files as they lie in the project root. */
function projectOf(runtime: string, files: Files): Files {
  const own = Object.entries(files).filter(([path]) => path.startsWith(`${runtime}/`));
  return Object.fromEntries(own.map(([path, text]) => [path.slice(runtime.length + 1), text]));
}
