import { vendorContract } from './contract.ts';
import { pulumiSubject } from './pulumi.ts';

vendorContract(await pulumiSubject());
