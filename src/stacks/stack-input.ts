import { z } from 'zod';
import { fieldIssues, UserError } from '../user-error.ts';
import { compileGlob } from './glob.ts';
import { checkKinds, type HookName, hookNames, noHooks, type StackSettings, slugOf } from './stack.ts';
import type { VendorSettings, VendorSettingsSchema } from './vendor-settings.ts';

/**
 * What people may say about a stack, in API, CLI and (in snake case) the repository file. `meta` tells the OpenAPI document
 * of a rule what the schema does not show; its patterns have no look-around, so that tools can make what fits them.
 */
const withoutNul = (text: string) => !text.includes('\0');
const hookList = z
  .array(
    z
      .string()
      .max(10_000)
      .trim()
      .min(1)
      .refine(withoutNul, 'without NUL characters')
      .meta({ pattern: String.raw`^[^\x00]*[^\s\x00][^\x00]*$`, example: 'npm ci' }),
  )
  .max(50);

/** Text with something in it, without the blanks around it. */
const words = (maxLength: number) => z.string().max(maxLength).trim().min(1);
const somewhere = { pattern: String.raw`\S` };
const hooks = z.strictObject(
  Object.fromEntries(hookNames.map((name) => [name, hookList.optional()])) as Record<
    HookName,
    z.ZodOptional<typeof hookList>
  >,
);

/** Of a path: neither empty nor made of one or two dots. */
const segment = String.raw`(?:[^./\\\x00]|\.[^./\\\x00]|\.\.[^/\\\x00])[^/\\\x00]*`;
const projectRoot = z
  .string()
  .max(1000)
  .transform((path) => path.replace(/^\.\/|\/+$/g, ''))
  .refine(
    (path) => !path.startsWith('/') && !/[\\\0]/.test(path) && !path.split('/').includes('..'),
    'a path inside the repository, with forward slashes and without ".."',
  )
  .refine(
    (path) => path === '' || path.split('/').every((part) => part !== '' && part !== '.'),
    'no empty segments',
  )
  .meta({ pattern: String.raw`^(?:\./)?(?:${segment}(?:/${segment})*)?/*$`, example: 'network' });

const maxGlobLength = 1000;
const glob = z
  .string()
  .min(1)
  .max(maxGlobLength)
  .check(({ value, issues }) => {
    if (value === '' || value.length > maxGlobLength) return;
    const compiled = compileGlob(value);
    if (compiled.kind === 'problem') issues.push({ code: 'custom', message: compiled.message, input: value });
  })
  .meta({ example: 'modules/**' });

const neverInBranch = String.raw`\s\x00-\x1f\x7f-\x9f~^:?*[\\`;
const branch = z
  .string()
  .min(1)
  .max(255)
  .regex(/^(?![/.-])(?!.*(\.\.|@\{|\/\/|\.lock$))[^\s\p{Cc}~^:?*[\\]+(?<![/.])$/u, 'not a branch name')
  .meta({
    pattern: String.raw`^[^${neverInBranch}/.\-](?:[^${neverInBranch}]*[^${neverInBranch}/.])?$`,
    not: { pattern: String.raw`\.\.|@\{|//|\.lock$` },
    example: 'main',
  });

const botLogin = z
  .string()
  .max(100)
  .trim()
  .regex(/^[A-Za-z0-9_-]+(\[bot\])?$/, 'must be the login of a bot, e.g. renovate[bot]')
  .meta({ pattern: String.raw`^\s*[A-Za-z0-9_\-]+(?:\[bot\])?\s*$`, example: 'renovate[bot]' });

const control = String.raw`\x00-\x1f\x7f-\x9f`;
const environmentName = z
  .string()
  .max(255)
  .regex(/^(?!\s)\P{Cc}*(?<!\s)$/u, 'without control characters, and no space at its ends')
  .meta({
    pattern: String.raw`^(?:[^\s${control}](?:[^${control}]*[^\s${control}])?)?$`,
    example: 'production',
  });

export const stackSettingsInput = z.strictObject({
  name: words(100).meta({ ...somewhere, example: 'Network Prod' }),
  description: z.string().max(10_000).optional(),
  labels: z
    .array(words(100).meta({ ...somewhere, example: 'network' }))
    .max(100)
    .optional(),
  branch: branch.optional(),
  projectRoot: projectRoot.optional(),
  additionalProjectGlobs: z.array(glob).max(100).optional(),
  autodeploy: z.boolean().optional(),
  planBinding: z.boolean().optional(),
  promotion: z.boolean().optional(),
  publicDetails: z.boolean().optional(),
  allowForks: z.boolean().optional(),
  trustedBots: z.array(botLogin).max(100).optional(),
  checks: z.enum(checkKinds).optional(),
  unaffectedChecks: z.boolean().optional(),
  deploymentEnvironment: environmentName.nullable().optional(),
  vendor: z.record(z.string(), z.unknown()),
  hooks: hooks.optional(),
});

export const newStackInput = stackSettingsInput.extend({
  repository: z
    .string()
    .regex(/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/, 'must be "owner/name"')
    .meta({ example: 'acme/infra' }),
});
export type NewStackInput = z.input<typeof newStackInput>;

export const stackPatchInput = stackSettingsInput.partial();
export type StackPatchInput = z.input<typeof stackPatchInput>;

/** The id that a new stack of that name gets. Throws `invalid-input` when nothing of it can stand in a URL. */
export function stackIdOf(name: string): string {
  const id = slugOf(name);
  if (id === '') {
    throw new UserError('invalid-input', 'name: needs a letter or a digit', {
      issues: [{ path: 'name', message: 'needs a letter or a digit' }],
    });
  }
  return id;
}

type GivenSettings = Omit<z.output<typeof stackSettingsInput>, 'vendor'>;

/** All settings of a stack: what was given, and the defaults for the rest. */
export function completeSettings(
  given: GivenSettings,
  vendor: VendorSettings,
  defaultBranch: string,
): StackSettings {
  const { hooks, ...rest } = given;
  return {
    description: '',
    labels: [],
    branch: defaultBranch,
    projectRoot: '',
    additionalProjectGlobs: [],
    autodeploy: false,
    planBinding: true,
    promotion: false,
    publicDetails: false,
    allowForks: false,
    trustedBots: [],
    checks: 'each',
    unaffectedChecks: false,
    deploymentEnvironment: null,
    ...present(rest),
    name: given.name,
    vendor,
    hooks: { ...noHooks, ...present(hooks ?? {}) },
  };
}

/** An optional field that was left out must not overwrite a default with undefined. */
export function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** Throws `invalid-input` with one issue for each field that is wrong. */
export function parseInput<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = fieldIssues(parsed.error.issues);
  const first = issues[0];
  throw new UserError('invalid-input', first ? `${first.path || 'input'}: ${first.message}` : 'Not valid.', {
    issues,
  });
}

/** Exactly one known vendor, its settings as that vendor's schema normalises them. */
export function parseVendorSettings(
  given: Readonly<Record<string, unknown>>,
  vendors: readonly VendorSettingsSchema[],
): VendorSettings {
  const names = Object.keys(given);
  const vendor = vendors.find(({ name }) => name === names[0]);
  if (names.length !== 1 || !vendor) {
    const known = vendors.map(({ name }) => name).join(', ');
    throw new UserError('invalid-input', `vendor: exactly one of ${known}`, {
      issues: [{ path: 'vendor', message: `exactly one of ${known}` }],
    });
  }
  const settings = parseInput(z.object({ vendor: z.object({ [vendor.name]: vendor.schema }) }), {
    vendor: given,
  });
  return settings.vendor as VendorSettings;
}
