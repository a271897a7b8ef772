/**
 * `npm run record`: makes the real tools live through the stories of recording/, and records what they left into
 * test/fixtures. The commands and variables are those of src/vendors, so that a fixture is what the product sees.
 */
import './node-version.js';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { opentofu, terraform } from '../src/vendors/terraform/flavour.ts';
import { differencesOf, replaceFixture } from './recording/differences.ts';
import { writeFixture } from './recording/fixture.ts';
import { openPulumi } from './recording/pulumi/recorder.ts';
import type { OpenRecorder, Story } from './recording/recorder.ts';
import { openTerraform } from './recording/terraform/recorder.ts';

const recorders: Readonly<Record<string, OpenRecorder>> = {
  pulumi: openPulumi,
  terraform: openTerraform(terraform),
  opentofu: openTerraform(opentofu),
};

const help = `Usage: npm run record [-- --tool <tool>]... [--case <name>]... [--check]

Records into test/fixtures/<tool> what a tool prints and writes. A fixture that says the same as before stays as it is.
--check changes nothing: it shows the differences, and exits with 1 when there are any.

  --tool <tool>  ${Object.keys(recorders).join(', ')}; all when left out
  --case <name>  this fixture, or the fixtures of this story; can be repeated
  --check        compare only
  --help         this text`;

const fixturesDir = fileURLToPath(new URL('../test/fixtures', import.meta.url));

interface Wanted {
  readonly cases: readonly string[];
  readonly isCheck: boolean;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      tool: { type: 'string', multiple: true, default: Object.keys(recorders) },
      case: { type: 'string', multiple: true, default: [] },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const unknown = values.tool.find((tool) => !Object.hasOwn(recorders, tool));
  if (unknown !== undefined) {
    console.error(`record: no tool is called ${unknown}\n\n${help}`);
    return 2;
  }
  let hasDifferences = false;
  let recorded = 0;
  for (const tool of values.tool) {
    const outcome = await recordTool(tool, { cases: values.case, isCheck: values.check });
    hasDifferences ||= outcome.hasDifferences;
    recorded += outcome.recorded;
  }
  if (recorded === 0) {
    console.error(`record: no case is called ${values.case.join(', ')}`);
    return 2;
  }
  return values.check && hasDifferences ? 1 : 0;
}

async function recordTool(
  tool: string,
  { cases, isCheck }: Wanted,
): Promise<{ hasDifferences: boolean; recorded: number }> {
  const root = await mkdtemp(join(tmpdir(), 'slipway-fixtures-'));
  const [committed, recorded] = [join(fixturesDir, tool), join(root, 'recorded')];
  try {
    await mkdir(join(root, 'tool'));
    await mkdir(recorded);
    const recorder = await recorders[tool]?.(join(root, 'tool'));
    if (!recorder) throw new Error(`no recorder for ${tool}`);
    const isWanted = (story: Story, name: string) =>
      cases.length === 0 || cases.includes(story.name) || cases.includes(name);
    // Without --case also what no story makes any more.
    const names = new Set(cases.length === 0 ? await foldersIn(committed) : []);
    let differences = '';
    for (const story of recorder.stories) {
      const wanted = story.records.filter((name) => isWanted(story, name));
      if (wanted.length === 0) continue;
      const folder = join(root, `story-${story.name}`);
      await mkdir(folder);
      for await (const recording of story.tell(folder)) {
        const codes = recording.commands.map(({ result }) => result.exitCode).join(', ');
        console.error(`${tool}: ${story.name}: ${recording.name} ended with ${codes}`);
        if (wanted.includes(recording.name)) await writeFixture(recorded, recorder.tool, recording);
      }
      for (const name of wanted) names.add(name);
    }
    for (const name of names) {
      const difference = await differencesOf({ committed, recorded }, [name]);
      if (difference === '') continue;
      differences += `${difference}\n`;
      if (!isCheck) await replaceFixture(join(committed, name), join(recorded, name));
    }
    if (isCheck) process.stdout.write(differences);
    return { hasDifferences: differences !== '', recorded: names.size };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  return readdir(folder);
}

process.exitCode = await main();
