import { afterAll, test } from 'vitest';
import { terraform } from '../../../src/vendors/terraform/flavour.ts';
import { vendorContract } from './contract.ts';
import { isMissing, terraformSubject } from './terraform.ts';

if (isMissing(terraform)) test.skip('the contract of vendors on Terraform: it is not on this machine');
else {
  const subject = await terraformSubject(terraform);
  afterAll(() => subject[Symbol.dispose]());
  vendorContract(subject);
}
