/**
 * The programs of demo/programs as runs meet them: what each needs of the machine and of its hooks, and the texts that
 * are changed in it for each chapter of its life. All of them live in the same small world.
 */
import type { Edit } from '../../demo/programs.ts';
import { folderOfGo, requirePython } from './machine.ts';

export interface Sample {
  /** Its folder in demo/programs. */
  readonly program: string;
  readonly vendor: Readonly<Record<string, unknown>>;
  /** Where the texts stand that are changed, below that folder. */
  readonly file: string;
  readonly beforeInit: readonly string[];
  /** Stands in the program. */
  readonly secret: string;
  /** Where its dynamic provider keeps its objects, beside the state. */
  readonly objects: string | null;
  /** As the first run counts them. */
  readonly resources: number;
  /** By another image. Pulumi counts a component in YAML too: it has inputs of its own. */
  readonly updated: number;
  /** Replaces one resource; what is updated besides is the same everywhere. */
  readonly replacement: Edit;
  readonly mistake: Edit;
  /** What people are told of the mistake. */
  readonly mistakeTold: RegExp;
  /** One resource that cannot be made, once another was. */
  readonly failure: readonly Edit[];
  readonly failureTold: RegExp;
  /** What was made before that, and stays. */
  readonly done: string;
  /** Of a tear-down after that; a resource whose replacement was made has its predecessor still. */
  readonly destroyed: number;
}

const pulumi = { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } };

const newEngine: Edit = ['postgres-17', 'postgres-18'];
const newerEngine: Edit = ['postgres-18', 'postgres-19'];

const yaml: Sample = {
  program: 'yaml',
  vendor: pulumi,
  file: 'Pulumi.yaml',
  beforeInit: [],
  secret: 'correct-horse-battery-staple',
  objects: null,
  resources: 7,
  updated: 2,
  replacement: newEngine,
  mistake: ['{database}', '{data-base}'],
  mistakeTold: /resource, variable, or config value "data-base" not found/,
  failure: [
    newerEngine,
    [
      'outputs:',
      `  certificate:
    type: pulumi:Stash
    properties:
      input:
        fn::fromBase64: \${database.id}

outputs:`,
    ],
  ],
  failureTold: /fn::fromBase64 unable to decode/,
  done: 'postgres-19',
  destroyed: 8,
};

const dynamic = {
  resources: 8,
  updated: 1,
  replacement: ['2, label', '3, label'],
  failureTold: /there is no subnet 300 in 10\.\d+\.0\.0\/16/,
  done: 'shop:1.2.0',
  destroyed: 8,
} as const satisfies Partial<Sample>;

const newImage: Edit = ['shop:1.1.0', 'shop:1.2.0'];

const javascript: Sample = {
  ...dynamic,
  program: 'javascript',
  vendor: pulumi,
  file: 'index.js',
  beforeInit: ['npm ci'],
  secret: 'demo-token-4f8b1c',
  objects: 'subnets-javascript',
  mistake: ['exports.service = shop', 'exports.service = ship'],
  mistakeTold: /ReferenceError: ship is not defined/,
  failure: [newImage, ['3, label', '300, label']],
};

const typescript: Sample = {
  ...dynamic,
  program: 'typescript',
  vendor: pulumi,
  file: 'index.ts',
  beforeInit: ['npm ci'],
  secret: 'demo-token-9d27ae',
  objects: 'subnets-typescript',
  mistake: ['replicas: 2 }', "replicas: 'two' }"],
  mistakeTold: /index\.ts.*Type 'string' is not assignable to type 'number'/s,
  failure: [newImage, ['3, label', '300, label']],
};

const python: Sample = {
  ...dynamic,
  program: 'python',
  vendor: pulumi,
  file: '__main__.py',
  beforeInit: [
    'python3 -m venv venv',
    '. venv/bin/activate && pip install --quiet --disable-pip-version-check -r requirements.txt',
  ],
  secret: 'demo-token-61c3f0',
  objects: 'subnets-python',
  replacement: ['number=2', 'number=3'],
  mistake: ['"service", shop', '"service", ship'],
  mistakeTold: /NameError: name 'ship' is not defined/,
  failure: [newImage, ['number=3', 'number=300']],
};

const go = (folder: string): Sample => ({
  program: 'go',
  vendor: pulumi,
  file: 'main.go',
  // Compiling says nothing, so that a plan which begins with minutes of it may end for its silence.
  beforeInit: [`export PATH=$PATH:${folder}`, 'go build -v github.com/pulumi/pulumi/sdk/v3/go/pulumi'],
  secret: 'demo-token-b5520e',
  objects: null,
  resources: 7,
  updated: 1,
  replacement: newEngine,
  mistake: ['"service", shop', '"service", ship'],
  mistakeTold: /undefined: ship/,
  failure: [
    newerEngine,
    [
      '\t\tctx.Export("database"',
      `\t\t_, err = pulumi.NewStackReference(ctx, "neighbour", &pulumi.StackReferenceArgs{
\t\t\tName: pulumi.Sprintf("organization/shop/%s", database.ID()),
\t\t})
\t\tif err != nil {
\t\t\treturn err
\t\t}
\t\tctx.Export("database"`,
    ],
  ],
  failureTold: /unknown stack "organization\/shop\//,
  done: 'postgres-19',
  destroyed: 8,
});

const terraform = (vendor: string): Sample => ({
  program: 'terraform',
  vendor: { [vendor]: { stateUrl: 'file:///state' } },
  file: 'main.tf',
  beforeInit: [],
  secret: 'demo-token-27f4ce',
  objects: null,
  resources: 5,
  updated: 1,
  replacement: newEngine,
  mistake: ['value = module.shop.image', 'value = module.ship.image'],
  mistakeTold: /No module call named "ship" is declared in the root module/,
  failure: [
    newerEngine,
    [
      'output "database"',
      `resource "terraform_data" "certificate" {
  input = terraform_data.database.id
  provisioner "local-exec" {
    command = "echo there is no certificate; exit 1"
  }
}

output "database"`,
    ],
  ],
  failureTold: /there is no certificate/,
  done: 'postgres-19',
  // What was made, but not to its end, is to be torn down too.
  destroyed: 6,
});

/** `prepare` throws by name what this machine lacks. */
export const samples: readonly { readonly name: string; readonly prepare: () => Sample }[] = [
  { name: 'go', prepare: () => go(folderOfGo()) },
  {
    name: 'python',
    prepare: () => {
      requirePython();
      return python;
    },
  },
  { name: 'typescript', prepare: () => typescript },
  { name: 'javascript', prepare: () => javascript },
  { name: 'yaml', prepare: () => yaml },
  { name: 'terraform', prepare: () => terraform('terraform') },
  { name: 'opentofu', prepare: () => terraform('opentofu') },
];
