/** One operation of the OpenAPI document, as far as the server itself goes by it. */
interface OperationObject {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: { readonly required?: boolean };
  readonly 'x-needs'?: string;
  readonly 'x-audited'?: boolean;
}

/** The operation that a request asks for. */
export interface Operation {
  /** `METHOD /template`, as in the document. */
  readonly name: string;
  /** Decoded; one that cannot be decoded is as it came. */
  readonly params: Readonly<Record<string, string>>;
  /** Who may: `x-needs` of the document; null: nobody is asked. */
  readonly needs: string | null;
  /** False for what only concerns what the caller is shown (`x-audited` of the document). */
  readonly isAudited: boolean;
  /** Whether there must be a body. */
  readonly needsBody: boolean;
  /** Whether the document says that the operation takes this header (in lower case) or query parameter. */
  takes(place: 'header' | 'query', name: string): boolean;
}

/**
 * What the document says about requests. The server goes by it wherever something holds for every route of a kind, so
 * that a new route cannot be forgotten.
 */
export interface Operations {
  /** Null: there is no such route. */
  find(method: string, pathname: string): Operation | null;
  /** The methods that a path has, in upper case; empty when there is no such path. */
  methodsOf(pathname: string): readonly string[];
}

/** What may change something: everything but reading. */
const changing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export function createOperations(document: object): Operations {
  const { paths } = document as { paths: Record<string, Record<string, OperationObject>> };
  // Of two that fit, the one with more words of its own is meant, as the router has it.
  const templates = Object.keys(paths).toSorted((a, b) => paramCount(a) - paramCount(b));

  return {
    find(asked, pathname) {
      // The router answers HEAD as it answers GET.
      const method = asked === 'HEAD' ? 'GET' : asked;
      const template = templates.find(
        (each) => matches(each, pathname) && paths[each]?.[method.toLowerCase()] !== undefined,
      );
      const operation = template && paths[template]?.[method.toLowerCase()];
      if (!operation) return null;
      const { parameters = [], requestBody } = operation;
      return {
        name: `${method.toUpperCase()} ${template}`,
        params: paramsOf(template, pathname),
        needs: operation['x-needs'] ?? null,
        isAudited: operation['x-audited'] ?? changing.has(method.toUpperCase()),
        needsBody: requestBody?.required === true,
        takes: (place, name) => parameters.some((each) => each.in === place && each.name === name),
      };
    },
    methodsOf(pathname) {
      const template = templates.find((each) => matches(each, pathname));
      return Object.keys((template && paths[template]) ?? {}).map((method) => method.toUpperCase());
    },
  };
}

const isParam = (part: string): boolean => part.startsWith('{');
const paramCount = (template: string): number => template.split('/').filter(isParam).length;

function matches(template: string, pathname: string): boolean {
  const [wanted, given] = [template.split('/'), pathname.split('/')];
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (isParam(part) ? given[index] !== '' : part === given[index]))
  );
}

function paramsOf(template: string, pathname: string): Record<string, string> {
  const given = pathname.split('/');
  return Object.fromEntries(
    template
      .split('/')
      .flatMap((part, index) => (isParam(part) ? [[part.slice(1, -1), decoded(given[index] ?? '')]] : [])),
  );
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
