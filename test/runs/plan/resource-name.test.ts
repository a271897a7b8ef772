import { describe, expect, it, test } from 'vitest';
import { isModule, moduleAround, nameOf, typeIn } from '../../../src/runs/plan/resource-name.ts';
import { fc } from '../../support/fast-check.ts';

test.each([
  ['urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs', 'logs', 'aws:s3/bucket:Bucket'],
  ['urn:pulumi:dev::shop::acme:index:Site$aws:s3/bucket:Bucket::a::b', 'a::b', 'aws:s3/bucket:Bucket'],
  ['urn:pulumi', 'urn:pulumi', ''],
  ['module.net.terraform_data.a["x"]', 'module.net.terraform_data.a["x"]', ''],
  ['terraform_data.a["x::y::z::w"]', 'terraform_data.a["x::y::z::w"]', ''],
  ['data.aws_ami.ubuntu', 'data.aws_ami.ubuntu', ''],
  ['outputs', 'outputs', ''],
  ['', '', ''],
])('the name in %s', (urn, name, type) => {
  expect(nameOf(urn)).toBe(name);
  expect(typeIn(urn)).toBe(type);
});

describe('a module', () => {
  test.each([
    ['module.net', ''],
    ['module.net[0]', ''],
    ['module.net.module.sub', 'module.net'],
    ['module.net["a.module.b"].module.sub[12]', 'module.net["a.module.b"]'],
    ['module.net["say \\"x\\"]."].module.ö', 'module.net["say \\"x\\"]."]'],
  ])('%s is in "%s"', (address, around) => {
    expect(isModule(address)).toBe(true);
    expect(moduleAround(address)).toBe(around);
  });

  test.each([
    ...['', 'module', 'module.', 'module.net.terraform_data.a', 'terraform_data.a', 'data.module.net'],
    ...['module.net[', 'module.net["a', 'module.net.module', 'urn:pulumi:dev::shop::a:b:C::module.net'],
  ])('is not %j', (address) => {
    expect(isModule(address)).toBe(false);
    expect(moduleAround(address)).toBe('');
  });

  it('is found whatever its key is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), (key, index) => {
        const outer = `module.a[${JSON.stringify(key)}]`;
        expect(moduleAround(`${outer}.module.b[${index}]`)).toBe(outer);
      }),
    );
  });
});
