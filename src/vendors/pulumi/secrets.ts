import { secretText } from '../../runs/plan/plan-value.ts';

/**
 * Values as the event log carries them. Pulumi tags everything that is not plain JSON with one key; a secret
 * is such an object, with the text "[secret]" where the ciphertext was.
 */
const signatureKey = '4dabf18193072939515e22adb298388d';
const secretSignature = '1b47061264138c4ac30d75fd1eb44270';
const outputSignature = 'd0e6a833031e9bbcd3f4e8bde6ca49a4';

/** Far beyond any real property; without a limit a hostile program's log would overflow the stack. */
export const maxDepth = 256;

/** Thrown by `foldSecrets`, caught by the event log's reader. */
export class TooDeepError extends Error {}

/**
 * A copy in which every secret, at any depth and whole objects included, is the literal "[secret]" that the
 * specification asks for (§2.3). Other tagged values (assets, resource references, unknowns) stay as they are.
 */
export function foldSecrets(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) throw new TooDeepError(`values are nested more than ${maxDepth} deep`);
  if (Array.isArray(value)) return value.map((item) => foldSecrets(item, depth + 1));
  if (isSecret(value)) return secretText;
  // fromEntries defines own properties, so that a key `__proto__` stays a key.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, foldSecrets(item, depth + 1)]));
}

function isSecret(value: object): boolean {
  if (!Object.hasOwn(value, signatureKey)) return false;
  const tagged = value as Record<string, unknown>;
  const signature = tagged[signatureKey];
  return signature === secretSignature || (signature === outputSignature && tagged['secret'] === true);
}
