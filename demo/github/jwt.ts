/** Checks the JSON web token with which an App speaks for itself, with GitHub's messages. */
import { verify } from 'node:crypto';
import { z } from 'zod';
import type { GithubState } from './state.ts';

const headerSchema = z.object({ alg: z.literal('RS256') });
const claimsSchema = z.object({
  iss: z.union([z.string(), z.number()]),
  iat: z.number().int().optional(),
  exp: z.number().int().optional(),
});

const longestLifeSeconds = 600;

/** Null when the token is good, else why not. */
export function jwtProblem(state: GithubState, token: string): string | null {
  const [head = '', body = '', signature = ''] = token.split('.');
  const claims = claimsSchema.safeParse(decoded(body));
  const signed = Buffer.from(`${head}.${body}`);
  if (!headerSchema.safeParse(decoded(head)).success || !claims.success) return undecodable;
  if (!verify('RSA-SHA256', signed, state.app.publicKeyPem, Buffer.from(signature, 'base64url')))
    return undecodable;
  const nowSeconds = Math.floor(state.nowMs() / 1000);
  const { iss, iat, exp } = claims.data;
  if (![String(state.app.id), state.app.clientId].includes(String(iss))) return 'Integration not found';
  if (exp === undefined || exp <= nowSeconds) {
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  }
  if (exp > nowSeconds + longestLifeSeconds)
    return "'Expiration time' claim ('exp') is too far in the future";
  if (iat === undefined || iat > nowSeconds) {
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  }
  return null;
}

export const undecodable = 'A JSON web token could not be decoded';

function decoded(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
