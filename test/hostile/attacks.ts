import type { Attack } from './attack.ts';
import { artifactAttacks } from './attacks/artifacts.ts';
import { clearingAttacks } from './attacks/clearing.ts';
import { fileAttacks } from './attacks/files.ts';
import { kernelAttacks } from './attacks/kernel.ts';
import { launchingAttacks } from './attacks/launching.ts';
import { networkAttacks } from './attacks/network.ts';
import { processAttacks } from './attacks/processes.ts';
import { proxyAttacks } from './attacks/proxy.ts';
import { resourceAttacks } from './attacks/resources.ts';

export const attacks: readonly Attack[] = [
  ...fileAttacks,
  ...processAttacks,
  ...launchingAttacks,
  ...networkAttacks,
  ...proxyAttacks,
  ...kernelAttacks,
  ...resourceAttacks,
  ...artifactAttacks,
  ...clearingAttacks,
];
