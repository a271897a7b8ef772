/** Names that lead where nobody should get, by the machine's own resolver. */
export const hostileNames = {
  metadata: 'metadata.attacker.example',
  loopback: 'loopback.attacker.example',
};
