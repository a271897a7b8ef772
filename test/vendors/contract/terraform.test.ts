import { afterAll } from 'vitest';
import { terraform } from '../../../src/vendors/terraform/flavour.ts';
import { vendorContract } from './contract.ts';
import { terraformSubject } from './terraform.ts';

const subject = await terraformSubject(terraform);
afterAll(() => subject[Symbol.dispose]());
vendorContract(subject);
