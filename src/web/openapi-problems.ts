import type { Content } from './openapi-examples.ts';
import { type ProblemCode, problemStatuses } from './problem.ts';

/**
 * Which problems an operation can be answered with, as responses of the document: what follows from its method, its
 * parameters and who may call it is known here, the rest it says itself (`refuses` of api/route-parts.ts).
 */
export interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
  readonly 'x-needs'?: string;
  readonly 'x-refuses'?: readonly ProblemCode[];
}

interface Parameter {
  readonly in: string;
  readonly name: string;
}

export function withProblems(path: string, method: string, operation: Operation): Operation {
  const { 'x-refuses': codes = [], ...described } = operation;
  const { default: anyError, ...responses } = operation.responses;
  // Without it the operation never fails, but by a bug.
  if (anyError === undefined) return described;
  const all = new Set([...codesOf(path, method, operation), ...codes]);
  return { ...described, responses: { ...responses, ...problemResponses(anyError, [...all]) } };
}

function codesOf(path: string, method: string, operation: Operation): ProblemCode[] {
  const { security = [], parameters = [], 'x-needs': needs } = operation;
  const isChange = method !== 'get';
  const hasBody = ['post', 'put', 'patch'].includes(method);
  const isApi = path.startsWith('/api/v1/');
  return [
    ...codesIf(security.length > 0, 'unauthenticated'),
    ...codesIf(security.length > 0 && isApi, 'rate-limited'),
    // A form of another site, too, may send what changes something with a person's cookie.
    ...codesIf(security.length > 0 && (isChange || mayBeTooLittle(needs)), 'forbidden'),
    ...codesIf(needs === 'instance' || parameters.some(isInPath), 'not-found'),
    // Of a person, GitHub is asked for the role.
    ...codesIf(security.length > 0 && isApi, 'github-unavailable'),
    // No operation takes query parameters that it does not know.
    ...codesIf(isApi, 'invalid-input'),
    ...codesIf(isApi && hasBody, 'not-json', 'payload-too-large', 'unsupported-media-type'),
    ...codesIf(parameters.some(isHeader('if-match')), 'precondition-failed'),
    ...codesIf(
      parameters.some(isHeader('idempotency-key')),
      'idempotency-key-in-use',
      'idempotency-key-reused',
    ),
    ...codesIf(isChange, 'storage-full'),
    'internal-error',
  ];
}

/** Whoever may read a stack may know of it, and is told when more is needed. */
const mayBeTooLittle = (needs = 'any') =>
  ['writer', 'admin', 'account-admin', 'all-accounts'].includes(needs);
const isInPath = (parameter: Parameter) => parameter.in === 'path';
const isHeader = (name: string) => (parameter: Parameter) =>
  parameter.in === 'header' && parameter.name === name;
const codesIf = (condition: boolean, ...codes: ProblemCode[]) => (condition ? codes : []);

function problemResponses(
  { content }: { readonly content?: Content },
  codes: readonly ProblemCode[],
): Operation['responses'] {
  const byStatus = Object.groupBy(codes, (code) => String(problemStatuses[code]));
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, those = []]) => [
      status,
      {
        description: those.map((code) => `\`${code}\``).join(', '),
        ...headersOf(those),
        ...(content ? { content } : {}),
      },
    ]),
  );
}

function headersOf(codes: readonly ProblemCode[]): object {
  const header = (description: string) => ({ description, required: true, schema: { type: 'string' } });
  if (codes.includes('unauthenticated')) {
    return { headers: { 'www-authenticate': header('How to authenticate.') } };
  }
  return codes.includes('rate-limited') ? { headers: { 'retry-after': header('Seconds.') } } : {};
}
