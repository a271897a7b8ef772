import { changed, type Files, filesOf } from '../../../demo/programs.ts';
import { type PulumiStory, up } from './story.ts';

/** The sample programs of the demo, and what each needs before Pulumi can run it. */
const programs: readonly { runtime: string; file: string; prepare: readonly string[] }[] = [
  { runtime: 'yaml', file: 'Pulumi.yaml', prepare: [] },
  { runtime: 'javascript', file: 'index.js', prepare: ['npm ci --no-audit --no-fund'] },
  { runtime: 'typescript', file: 'index.ts', prepare: ['npm ci --no-audit --no-fund'] },
  {
    runtime: 'python',
    file: '__main__.py',
    prepare: [
      'python3 -m venv venv',
      'venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt',
    ],
  },
  { runtime: 'go', file: 'main.go', prepare: ['go build -o /dev/null .'] },
];

/** Each in its first version, and with another image, which updates one resource. */
export async function sampleStories(): Promise<PulumiStory[]> {
  const stories = programs.map(async ({ runtime, file, prepare }): Promise<PulumiStory> => {
    const files = projectOf(runtime, await filesOf(runtime));
    return {
      name: `program-${runtime}`,
      prepare,
      stages: [
        { run: 'select', files },
        { run: 'preview', record: `program-${runtime}-create` },
        up(),
        {
          run: 'preview',
          record: `program-${runtime}-change`,
          files: { [file]: changed(files, file, [['shop:1.0.0', 'shop:1.1.0']]) },
        },
      ],
    };
  });
  return Promise.all(stories);
}

/** Its files as they lie in the project root. */
function projectOf(runtime: string, files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path.slice(runtime.length + 1), text]),
  );
}
