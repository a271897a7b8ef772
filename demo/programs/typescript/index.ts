// The same world as the program in JavaScript, with types: values kept in the state (Stash), a component, and a resource
// whose provider is written here and keeps its objects as files.
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as url from 'node:url';
import * as pulumi from '@pulumi/pulumi';

interface SubnetInputs {
  readonly network: string;
  readonly number: number;
  readonly label: string;
}

type SubnetArguments = { readonly [Name in keyof SubnetInputs]: pulumi.Input<SubnetInputs[Name]> };

interface SubnetState extends SubnetInputs {
  readonly cidr: string;
}

/** Beside the state: there it survives the run, and a preview works on a copy of both. */
const fileOf = (id: string): string =>
  path.join(url.fileURLToPath(process.env.PULUMI_BACKEND_URL ?? ''), 'subnets-typescript', `${id}.json`);

/** Hands out a subnet of a /16 by number; another number is another subnet, so a replacement. */
const subnetProvider: pulumi.dynamic.ResourceProvider<SubnetInputs, SubnetState> = {
  async create(inputs) {
    if (inputs.number > 255) throw new Error(`there is no subnet ${inputs.number} in ${inputs.network}`);
    const cidr = inputs.network.replace(/\.0\.0\/16$/, `.${inputs.number}.0/24`);
    const id = `subnet-${inputs.number}`;
    fs.mkdirSync(path.dirname(fileOf(id)), { recursive: true });
    fs.writeFileSync(fileOf(id), JSON.stringify({ cidr, label: inputs.label }));
    return { id, outs: { ...inputs, cidr } };
  },
  /** What somebody changed by hand is found by the next refresh; an empty id says that it is gone. */
  async read(id, props) {
    if (!fs.existsSync(fileOf(id))) return { id: '' };
    const found: Pick<SubnetState, 'cidr' | 'label'> = JSON.parse(fs.readFileSync(fileOf(id), 'utf8'));
    return { id, props: { ...(props as SubnetState), ...found } };
  },
  async diff(_id, olds, news) {
    const moved = olds.network !== news.network || olds.number !== news.number;
    const renamed = olds.label !== news.label;
    return { changes: moved || renamed, replaces: moved ? ['number'] : [], deleteBeforeReplace: false };
  },
  async update(id, olds, news) {
    fs.writeFileSync(fileOf(id), JSON.stringify({ cidr: olds.cidr, label: news.label }));
    return { outs: { ...news, cidr: olds.cidr } };
  },
  async delete(id) {
    fs.rmSync(fileOf(id), { force: true });
  },
};

class Subnet extends pulumi.dynamic.Resource {
  declare readonly cidr: pulumi.Output<string>;

  constructor(name: string, inputs: SubnetArguments, options?: pulumi.CustomResourceOptions) {
    super(subnetProvider, name, { cidr: undefined, ...inputs }, options);
  }
}

/** What belongs to one application, as one resource with children. */
class Service extends pulumi.ComponentResource {
  readonly image: pulumi.Output<string>;

  constructor(name: string, { image, replicas }: { readonly image: string; readonly replicas: number }) {
    super('demo:index:Service', name);
    this.image = new pulumi.Stash(`${name}-image`, { input: image }, { parent: this }).input.apply(String);
    new pulumi.Stash(`${name}-replicas`, { input: replicas }, { parent: this });
    this.registerOutputs({ image: this.image });
  }
}

const network = new pulumi.Stash('network', { input: { cidr: '10.40.0.0/16' } });
const cidr = network.input.apply((value: { cidr: string }) => value.cidr);
const token = new pulumi.Stash('api-token', { input: pulumi.secret('demo-token-9d27ae') });
const shop = new Service('shop', { image: 'registry.example.com/shop:1.0.0', replicas: 2 });
const blue = new Subnet('blue', { network: cidr, number: 1, label: 'blue' });
const green = new Subnet('green', { network: cidr, number: 2, label: 'green' }, { dependsOn: shop });

export const subnets = [blue.cidr, green.cidr];
export const service = shop.image;
export const apiToken = token.input;
