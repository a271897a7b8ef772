'use strict';
// A program that needs no cloud account: a value kept in the state (Stash), and a resource whose provider is
// written here. Pulumi stores the provider's source in the state, so it must not close over anything secret.
const pulumi = require('@pulumi/pulumi');

/** Hands out a subnet of a /16 by number; another number is another subnet, so a replacement. */
const subnetProvider = {
  async create(inputs) {
    const cidr = inputs.network.replace(/\.0\.0\/16$/, `.${inputs.number}.0/24`);
    return { id: `subnet-${inputs.number}`, outs: { ...inputs, cidr } };
  },
  async diff(_id, olds, news) {
    const moved = olds.network !== news.network || olds.number !== news.number;
    const renamed = olds.label !== news.label;
    return { changes: moved || renamed, replaces: moved ? ['number'] : [], deleteBeforeReplace: false };
  },
  async update(_id, olds, news) {
    return { outs: { ...olds, ...news } };
  },
};

class Subnet extends pulumi.dynamic.Resource {
  constructor(name, inputs, options) {
    super(subnetProvider, name, { cidr: undefined, ...inputs }, options);
  }
}

const network = new pulumi.Stash('network', { input: { cidr: '10.30.0.0/16' } });
const cidr = network.input.apply((value) => value.cidr);
const blue = new Subnet('blue', { network: cidr, number: 1, label: 'blue' });
const green = new Subnet('green', { network: cidr, number: 2, label: 'green' });
const token = new pulumi.Stash('api-token', { input: pulumi.secret('demo-token-4f8b1c') });

exports.subnets = [blue.cidr, green.cidr];
exports.apiToken = token.input;
