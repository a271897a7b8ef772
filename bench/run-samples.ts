/** The sample programs as the benchmarks run them: by Slipway, and by somebody at a terminal. */
import { changed, type Files, filesOf } from '../demo/programs.ts';

export interface Sample {
  /** For people. */
  readonly name: string;
  /** Its folder in demo/programs, which is its project root too. */
  readonly program: string;
  /** The file in it with the name of an image. */
  readonly file: string;
  readonly vendor: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** What has to be done before the tool, as a shell takes it, on both sides. */
  readonly prepare: readonly string[];
  /** What somebody types to get the same done. */
  readonly typed: readonly (readonly [string, ...string[]])[];
  /** The highest ratio of the run to what is typed that we want to see; null: none is set. */
  readonly target: number | null;
}

export const passphrase = 'passphrase of the benchmark';

const flags = ['--refresh', '--diff', '--show-replacement-steps'] as const;
const pulumi = {
  vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
  prepare: [],
  typed: [
    ['pulumi', 'login'],
    ['pulumi', 'stack', 'select', '--create', '--stack', 'dev'],
    ['pulumi', 'preview', ...flags],
    ['pulumi', 'up', ...flags],
  ],
  target: null,
} as const satisfies Partial<Sample>;

const ofTerraform = (vendor: 'terraform' | 'opentofu', program: 'terraform' | 'tofu') =>
  ({
    program: 'terraform',
    file: 'main.tf',
    vendor: { [vendor]: { stateUrl: 'file:///state' } },
    prepare: [],
    typed: [
      [program, 'init'],
      [program, 'plan', '-out=plan.tfplan'],
      [program, 'apply', 'plan.tfplan'],
    ],
    target: 1.15,
  }) as const satisfies Partial<Sample>;

const goFolder = '/usr/local/go/bin';

export const samples: readonly Sample[] = [
  { ...pulumi, name: 'YAML', program: 'yaml', file: 'Pulumi.yaml', target: 1.1 },
  {
    ...pulumi,
    name: 'JavaScript',
    program: 'javascript',
    file: 'index.js',
    prepare: ['npm ci'],
    target: 0.8,
  },
  { ...pulumi, name: 'TypeScript', program: 'typescript', file: 'index.ts', prepare: ['npm ci'] },
  {
    ...pulumi,
    name: 'Python',
    program: 'python',
    file: '__main__.py',
    prepare: [
      'python3 -m venv venv',
      '. venv/bin/activate && pip install --quiet --disable-pip-version-check -r requirements.txt',
    ],
  },
  { ...pulumi, name: 'Go', program: 'go', file: 'main.go', prepare: [`export PATH=$PATH:${goFolder}`] },
  { ...ofTerraform('terraform', 'terraform'), name: 'Terraform' },
  { ...ofTerraform('opentofu', 'tofu'), name: 'OpenTofu' },
];

/** The version of a round: another image, which is an update. The file beside it makes each round a commit. */
export async function filesOfRound({ program, file }: Sample, round: number): Promise<Files> {
  const files = await filesOf(program);
  const path = `${program}/${file}`;
  const text = changed(files, path, [['shop:1.0.0', `shop:1.0.${round}`]]);
  return { ...files, [path]: text, [`${program}/round`]: `${round}\n` };
}
