import { afterAll } from 'vitest';
import { opentofu, terraform } from '../../src/vendors/terraform/flavour.ts';
import { pulumiSubject } from '../vendors/contract/pulumi.ts';
import { sizeContract } from '../vendors/contract/size.ts';
import { isMissing, terraformSubject } from '../vendors/contract/terraform.ts';

const flavours = [terraform, opentofu].filter((flavour) => flavour !== terraform || !isMissing(flavour));
const subjects = await Promise.all(flavours.map(terraformSubject));
afterAll(() => {
  for (const subject of subjects) subject[Symbol.dispose]();
});

for (const subject of [await pulumiSubject(), ...subjects]) sizeContract(subject);
