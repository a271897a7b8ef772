/**
 * Takes the schemas of our requests out of GitHub's published description: those of the operations that we call, and of
 * these what a request may say. The stand-in GitHub judges requests by them.
 *
 *   npm install --prefix /tmp/openapi --no-save @octokit/openapi@23.0.2   # 385 MB, hence not a dependency
 *   node tools/github-schemas.ts /tmp/openapi/node_modules/@octokit/openapi && npm run format
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const operations = [
  'POST /app-manifests/{code}/conversions',
  'GET /app',
  'GET /app/hook/config',
  'GET /app/hook/deliveries',
  'POST /app/hook/deliveries/{delivery_id}/attempts',
  'GET /app/installations',
  'GET /app/installations/{installation_id}',
  'POST /app/installations/{installation_id}/access_tokens',
  'GET /installation/repositories',
  'DELETE /installation/token',
  'GET /repos/{owner}/{repo}',
  'GET /repos/{owner}/{repo}/branches/{branch}',
  'POST /repos/{owner}/{repo}/check-runs',
  'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
  'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
  'GET /repos/{owner}/{repo}/commits',
  'GET /repos/{owner}/{repo}/commits/{ref}',
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
  'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls',
  'GET /repos/{owner}/{repo}/compare/{basehead}',
  'GET /repos/{owner}/{repo}/contents/{path}',
  'GET /repos/{owner}/{repo}/deployments',
  'POST /repos/{owner}/{repo}/deployments',
  'GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses',
  'POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses',
  'GET /repos/{owner}/{repo}/git/blobs/{file_sha}',
  'GET /repos/{owner}/{repo}/git/ref/{ref}',
  'GET /repos/{owner}/{repo}/git/trees/{tree_sha}',
  'GET /repos/{owner}/{repo}/installation',
  'GET /repos/{owner}/{repo}/issues',
  'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
  'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'GET /repos/{owner}/{repo}/pulls',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/files',
  'GET /user/installations',
  'GET /user/teams',
];

/** Keywords that say something about a value; GitHub's are OpenAPI 3.0, where null is a keyword of its own. */
const telling = new Set(
  'type enum required minimum maximum minLength maxLength minItems maxItems pattern additionalProperties'.split(
    ' ',
  ),
);

type Json = Readonly<Record<string, unknown>>;
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Json }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Json }>>;
  };
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('where is the package @octokit/openapi?');
const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string };
const description = JSON.parse(
  readFileSync(join(directory, 'generated/api.github.com.deref.json'), 'utf8'),
) as Description;

const schemas = Object.fromEntries(operations.map((name) => [name, requestOf(name)]));
const target = join(import.meta.dirname, '../demo/github/contract/requests.json');
writeFileSync(
  target,
  `${JSON.stringify({ source: `@octokit/openapi ${version}`, operations: schemas }, null, 1)}\n`,
);

function requestOf(name: string) {
  const [method = '', path = ''] = name.split(' ');
  const operation = description.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`GitHub describes no ${name}`);
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const body = operation.requestBody?.content['application/json']?.schema;
  return {
    query: Object.fromEntries(query.map(({ name: key, schema }) => [key, plain(schema)])),
    ...(body ? { body: plain(body) } : {}),
    ...(operation.requestBody?.required ? { bodyRequired: true } : {}),
  };
}

function plain(schema: Json): Json {
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'properties') {
      const properties = Object.entries(value as Record<string, Json>);
      return [[key, Object.fromEntries(properties.map(([name, each]) => [name, plain(each)]))]];
    }
    if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object')) {
      return [[key, plain(value as Json)]];
    }
    if (['oneOf', 'anyOf', 'allOf'].includes(key)) return [[key, (value as Json[]).map(plain)]];
    return telling.has(key) ? [[key, value]] : [];
  });
  const result = Object.fromEntries(entries);
  if (schema['nullable'] !== true) return result;
  return typeof result['type'] === 'string'
    ? {
        ...result,
        type: [result['type'], 'null'],
        ...(result['enum'] ? { enum: [...(result['enum'] as unknown[]), null] } : {}),
      }
    : { anyOf: [result, { type: 'null' }] };
}
