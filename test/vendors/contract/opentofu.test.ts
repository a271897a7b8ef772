import { afterAll } from 'vitest';
import { opentofu } from '../../../src/vendors/terraform/flavour.ts';
import { vendorContract } from './contract.ts';
import { terraformSubject } from './terraform.ts';

const subject = await terraformSubject(opentofu);
afterAll(() => subject[Symbol.dispose]());
vendorContract(subject);
