/** Requests held to what GitHub publishes about them (requests.json, made by tools/github-schemas.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface OperationSchema {
  readonly query: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  readonly bodyRequired?: boolean;
}

interface Operation extends OperationSchema {
  readonly name: string;
  readonly method: string;
  readonly pattern: RegExp;
}

export interface ContractRequest {
  readonly method: string;
  /** Without the API's prefix and without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Null for none. */
  readonly body: unknown;
}

const { operations: schemas } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'requests.json'), 'utf8'),
) as { operations: Readonly<Record<string, OperationSchema>> };

export const operationNames: readonly string[] = Object.keys(schemas);

/** These may hold slashes. */
const long = new Set(['path', 'ref', 'branch', 'basehead']);

const operations = Object.entries(schemas)
  .map(([name, schema]): Operation => {
    const [method = '', path = ''] = name.split(' ');
    return { ...schema, name, method, pattern: patternOf(path) };
  })
  // `commits/{ref}` would take `commits/main/check-runs` for a ref.
  .toSorted((left, right) => right.name.split('/').length - left.name.split('/').length);

function patternOf(path: string): RegExp {
  const source = path.replace(/\{(\w+)\}/g, (_, name: string) => (long.has(name) ? '.+' : '[^/]+'));
  return new RegExp(`^${source}$`);
}

const ajv = new Ajv2020({ strict: false, coerceTypes: false });

/** Why GitHub would refuse the request, or not do what is meant; null when all is well, or nothing is known about it. */
export function violationOf(request: ContractRequest): string | null {
  const operation = operations.find(
    (each) => each.method === request.method && each.pattern.test(request.path),
  );
  if (!operation) return null;
  const found = queryProblem(operation, request.query) ?? bodyProblem(operation, request.body);
  return found === null ? null : `${operation.name}: ${found}`;
}

function queryProblem({ query: known }: Operation, query: ContractRequest['query']): string | null {
  for (const [name, text] of Object.entries(query)) {
    const schema = known[name];
    // GitHub ignores it; whoever sent it meant something.
    if (!schema) return `there is no query parameter ${name}`;
    if (!ajv.validate(schema, typedValue(text, schema)))
      return `query ${name}: ${ajv.errorsText(ajv.errors, { dataVar: '' })}`;
  }
  return null;
}

function typedValue(text: string, { type }: Schema): unknown {
  if (type === 'integer' || type === 'number') return /^-?\d+$/.test(text) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  return text;
}

function bodyProblem({ body: schema, bodyRequired }: Operation, body: unknown): string | null {
  if (body === null) return bodyRequired ? 'the body is missing' : null;
  if (!schema) return isEmpty(body) ? null : 'it takes no body';
  if (!ajv.validate(schema, body)) return ajv.errorsText(ajv.errors, { dataVar: 'body' });
  const known = new Set(namesOf(schema));
  const unknown = Object.keys(body as object).find((name) => !known.has(name));
  return unknown === undefined ? null : `body: there is no ${unknown}`;
}

const isEmpty = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && Object.keys(body).length === 0;

function namesOf({ properties, oneOf = [], anyOf = [], allOf = [] }: Schema): readonly string[] {
  return [...Object.keys(properties ?? {}), ...[...oneOf, ...anyOf, ...allOf].flatMap(namesOf)];
}
