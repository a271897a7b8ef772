/** An answer that is an error, in GitHub's shape; thrown by routes, turned into a response in one place. */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly errors: readonly unknown[] | undefined;

  constructor(status: number, message: string, options: ApiErrorOptions = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.headers = options.headers ?? {};
    this.errors = options.errors;
  }
}

interface ApiErrorOptions {
  errors?: readonly unknown[];
  headers?: Record<string, string>;
}

export function errorResponse(error: ApiError): Response {
  const body = {
    message: error.message,
    ...(error.errors ? { errors: error.errors } : {}),
    documentation_url: 'https://docs.github.com/rest',
    status: String(error.status),
  };
  return Response.json(body, { status: error.status, headers: error.headers });
}

/** Also what GitHub says about a private repository that the caller may not know of. */
export const notFound = (): ApiError => new ApiError(404, 'Not Found');

/** A request that breaks the schema of the operation. */
export const invalidRequest = (why: string): ApiError => new ApiError(422, `Invalid request.\n\n${why}`);

/** A well-formed request that breaks a rule. */
export const validationFailed = (...errors: readonly unknown[]): ApiError =>
  new ApiError(422, 'Validation Failed', { errors });
