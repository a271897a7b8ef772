import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createWeb, type Web, type WebParts } from '../../src/web/server.ts';

/** The OpenAPI document as tests read it, and answers held against it. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema: object;
}

interface DocumentedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: object }>>;
  readonly content?: Content;
}

export type Content = Readonly<Record<string, { readonly schema?: object; readonly example?: unknown }>>;

export interface Route {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

export const routesOf = ({ paths }: Document): Route[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** What is wrong with a value, by a schema of the document; null when nothing is. */
export function createSchemaCheck(document: Document): (schema: object, value: unknown) => string | null {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': true, uri: true } });
  ajv.addSchema({ $id: 'document:', components: document.components });
  const compiled = new Map<string, ValidateFunction>();

  return (schema, value) => {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"document:#/components');
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
    compiled.set(text, validate);
    return validate(value) ? null : ajv.errorsText(validate.errors);
  };
}

/** The same for all installations; made once, as it takes a while. */
let known: ReturnType<typeof readDocument> | undefined;

async function readDocument(parts: WebParts) {
  // A web of its own: the request must not count in the metrics of the other.
  const web = createWeb({ ...parts, metrics: { ...parts.metrics, responded: () => undefined } });
  const response = await web.fetch(new Request('http://slipway.test/api/v1/openapi.json'));
  const document = (await response.json()) as Document;
  return { document, check: createSchemaCheck(document) };
}

/** A web of which every answer is checked; one that the document does not describe is an error of the request. */
export function checkedAgainstDocument(parts: WebParts): Web {
  const web = createWeb(parts);
  async function checked(
    request: Request,
    answer: (request: Request) => Promise<Response>,
  ): Promise<Response> {
    // Read first: afterwards there may be nothing left to read of a request of a socket.
    const { method, url } = request;
    const { pathname } = new URL(url);
    const response = await answer(request);
    known ??= readDocument(parts);
    const { document, check } = await known;
    const route = routesOf(document).find((each) => isOf(each, method, pathname));
    const wrong = route && (await wrongIn(route.operation, response, check));
    if (route && wrong) throw new Error(`${route.operation.operationId} answers otherwise: ${wrong}`);
    return response;
  }

  return {
    ...web,
    fetch: (request, ...rest) => checked(request, (same) => web.fetch(same, ...rest)),
    fetchAs: (actor, request) => checked(request, (same) => web.fetchAs(actor, same)),
  };
}

function isOf(route: Route, method: string, pathname: string): boolean {
  const pattern = new RegExp(`^${route.path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
  return route.method.toUpperCase() === method && pattern.test(pathname);
}

async function wrongIn(
  { responses }: Operation,
  response: Response,
  check: ReturnType<typeof createSchemaCheck>,
): Promise<string | null> {
  const { status, headers } = response;
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  const described = responses[status];
  if (!described) return `${status} ${await response.clone().text()}`;
  const missing = Object.entries(described.headers ?? {}).find(
    ([name, { required }]) => required && !headers.has(name),
  );
  if (missing) return `${status} without ${missing[0]}`;
  if (type === '') return described.content ? `${status} without a content type` : null;
  const media = described.content?.[type];
  if (!media) return `${status} with ${type}`;
  if (!type.endsWith('json')) return null;
  const body: unknown = await response.clone().json();
  const wrong = media.schema ? check(media.schema, body) : null;
  if (wrong) return `${status} ${JSON.stringify(body)}: ${wrong}`;
  if (type !== 'application/problem+json') return null;
  const { code } = body as { code: string };
  return described.description.includes(`\`${code}\``) ? null : `${status} with ${code}`;
}
