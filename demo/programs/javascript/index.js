'use strict';
// A program that needs no cloud account: values kept in the state (Stash), a component, and a resource whose provider is
// written here and keeps its objects as files. Pulumi stores the provider's source in the state, so it must not close
// over anything secret. What to try: another label (an update), another number (a replacement), a number over 255 (fails).
const fs = require('node:fs');
const path = require('node:path');
const url = require('node:url');
const pulumi = require('@pulumi/pulumi');

/** Beside the state: there it survives the run, and a preview works on a copy of both. */
const fileOf = (id) =>
  path.join(url.fileURLToPath(process.env.PULUMI_BACKEND_URL), 'subnets-javascript', `${id}.json`);

/** Hands out a subnet of a /16 by number; another number is another subnet, so a replacement. */
const subnetProvider = {
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
    if (!fs.existsSync(fileOf(id))) return { id: '', props: {} };
    return { id, props: { ...props, ...JSON.parse(fs.readFileSync(fileOf(id), 'utf8')) } };
  },
  async diff(_id, olds, news) {
    const moved = olds.network !== news.network || olds.number !== news.number;
    const renamed = olds.label !== news.label;
    return { changes: moved || renamed, replaces: moved ? ['number'] : [], deleteBeforeReplace: false };
  },
  async update(id, olds, news) {
    fs.writeFileSync(fileOf(id), JSON.stringify({ cidr: olds.cidr, label: news.label }));
    return { outs: { ...olds, ...news, cidr: olds.cidr } };
  },
  async delete(id) {
    fs.rmSync(fileOf(id), { force: true });
  },
};

class Subnet extends pulumi.dynamic.Resource {
  constructor(name, inputs, options) {
    super(subnetProvider, name, { cidr: undefined, ...inputs }, options);
  }
}

/** What belongs to one application, as one resource with children. */
class Service extends pulumi.ComponentResource {
  constructor(name, { image, replicas }, options) {
    super('demo:index:Service', name, {}, options);
    this.image = new pulumi.Stash(`${name}-image`, { input: image }, { parent: this }).input;
    new pulumi.Stash(`${name}-replicas`, { input: replicas }, { parent: this });
    this.registerOutputs({ image: this.image });
  }
}

const network = new pulumi.Stash('network', { input: { cidr: '10.30.0.0/16' } });
const cidr = network.input.apply((value) => value.cidr);
const token = new pulumi.Stash('api-token', { input: pulumi.secret('demo-token-4f8b1c') });
const shop = new Service('shop', { image: 'registry.example.com/shop:1.0.0', replicas: 2 });
const blue = new Subnet('blue', { network: cidr, number: 1, label: 'blue' });
const green = new Subnet('green', { network: cidr, number: 2, label: 'green' }, { dependsOn: shop });

exports.subnets = [blue.cidr, green.cidr];
exports.service = shop.image;
exports.apiToken = token.input;
