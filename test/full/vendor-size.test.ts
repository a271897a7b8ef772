import { pulumiSubject } from '../vendors/contract/pulumi.ts';
import { sizeContract } from '../vendors/contract/size.ts';

sizeContract(await pulumiSubject());
