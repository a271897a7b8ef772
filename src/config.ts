import { X509Certificate } from 'node:crypto';
import { cpus, homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import type { Environment } from './config/environment.ts';
import { type GithubAddress, type GithubConfig, githubAddress, githubConfig } from './config/github.ts';
import { invalid, readSetting } from './config/invalid.ts';
import { type UpstreamProxySetting, upstreamProxy } from './config/upstream-proxy.ts';

/**
 * The environment as one validated value. Every name read here stands in .env.example (held equal by a test).
 */
export interface Config {
  readonly github: GithubConfig | null;
  /** Known before there is an App. */
  readonly githubAddress: GithubAddress;
  readonly listen: { readonly host: string; readonly port: number };
  /** Without a trailing slash. Null: derived from the listening address. */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  readonly databasePath: string;
  readonly secretKeyPath: string;
  readonly sandbox: {
    readonly kind: 'bubblewrap' | 'none';
    readonly network: 'public' | 'allowlist' | 'none';
    readonly allowedHosts: readonly string[];
    /** Of the processes of one command together, tmpfs included. */
    readonly memoryBytes: number;
    /** At once, threads included. */
    readonly processes: number;
    /** What runs that are not trusted may reach. */
    readonly untrustedHosts: readonly string[];
    readonly upstreamProxy: UpstreamProxySetting | null;
    /** Processors that a command may keep busy where it has a cgroup; null = all there are. */
    readonly cpus: number | null;
  };
  readonly caBundle: string | null;
  readonly workers: number;
  /** Bytes that have to be free where DATA_DIR lies for a run to begin; 0 = whatever there is. */
  readonly minFreeBytes: number;
  /** What the caches of a repository may hold; 0 = there are none. */
  readonly cacheMaxBytes: number;
  /** Days that runs, and their logs, are kept once they are over, and what is in the audit log; 0 = for ever. */
  readonly retention: { readonly runsDays: number; readonly logsDays: number; readonly auditDays: number };
  readonly tools: {
    readonly settings: Readonly<Partial<Record<'pulumi' | 'terraform' | 'tofu' | 'opa', string>>>;
    /** PATH of the server, where tools are looked up. */
    readonly path: string;
    readonly home: string;
    readonly xdgCacheHome: string | null;
  };
  readonly webhookAllowedTargets: readonly string[];
  /** What is done about pushes that GitHub did not tell of. */
  readonly missedPushes: 'offer' | 'run';
  readonly admins: readonly string[];
  /** Whether /metrics is served without a token. */
  readonly metricsAnonymous: boolean;
  /** Requests a minute of each token and session; 0 = as many as they like. */
  readonly apiRateLimit: number;
  readonly logLevel: string;
  /** The CLI talks to this server instead of the local data directory. */
  readonly remote: { readonly url: string; readonly token: string } | null;
}

const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
const optional = z
  .string()
  .optional()
  .transform((text) => (text === undefined || text === '' ? null : text));
/** Digits only: `Number` takes a blank for 0, which as a port means "any". */
const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number);
/** The kernel takes shares from a hundredth of one on. */
const processors = z
  .string()
  .regex(/^\d{1,4}(\.\d{1,2})?$/, 'must be a number of processors such as 2 or 1.5')
  .transform(Number)
  .pipe(z.number().min(0.01).max(1024));
/** A century at most: more is a typing error, and would not be a date. */
const days = wholeNumber.pipe(z.number().max(36_500));
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an address such as https://slipway.example.com' })
  .transform((url) => url.replace(/\/+$/, ''));
/** Cookies, pages and what GitHub is told begin at the root of the host: a path in front would lead nowhere. */
export const withoutPath =
  'must have no path, user, query or fragment: Slipway has a host (or port) of its own';
export const isOrigin = (url: string): boolean =>
  URL.canParse(url) && new URL(url).href === `${new URL(url).origin}/`;

const settings = z.object({
  APP_ID: wholeNumber.pipe(z.number().positive()).optional(),
  PRIVATE_KEY: optional,
  PRIVATE_KEY_PATH: optional,
  WEBHOOK_SECRET: optional,
  GITHUB_CLIENT_ID: optional,
  GITHUB_CLIENT_SECRET: optional,
  GHE_HOST: optional,
  GHE_PROTOCOL: z.enum(['http', 'https']).default('https'),
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber.pipe(z.number().max(65_535)).default(3000),
  PUBLIC_URL: httpUrl
    .refine(isOrigin, withoutPath)
    .transform((url) => new URL(url).origin)
    .optional(),
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: optional,
  SECRET_KEY_PATH: optional,
  SANDBOX: z.enum(['bubblewrap', 'none']).default('bubblewrap'),
  SANDBOX_NETWORK: z.enum(['public', 'allowlist', 'none']).default('public'),
  SANDBOX_ALLOWED_HOSTS: list,
  SANDBOX_MEMORY_MB: wholeNumber.pipe(z.number().min(64).max(1_000_000_000)).default(4096),
  // The kernel has numbers for so many.
  SANDBOX_PROCESSES: wholeNumber.pipe(z.number().min(64).max(4_000_000)).default(1024),
  SANDBOX_UNTRUSTED_HOSTS: list,
  SANDBOX_UPSTREAM_PROXY: optional,
  SANDBOX_CPUS: processors.optional(),
  CA_BUNDLE: optional,
  WORKERS: wholeNumber.pipe(z.number().min(1).max(256)).optional(),
  MIN_FREE_DISK_MB: wholeNumber.pipe(z.number().max(1_000_000_000)).default(1024),
  CACHE_MAX_MB: wholeNumber.pipe(z.number().max(1_000_000_000)).default(2048),
  RETENTION_RUNS_DAYS: days.default(365),
  RETENTION_LOGS_DAYS: days.default(90),
  RETENTION_AUDIT_DAYS: days.default(400),
  PULUMI_PATH: optional,
  TERRAFORM_PATH: optional,
  TOFU_PATH: optional,
  OPA_PATH: optional,
  WEBHOOK_ALLOWED_TARGETS: list,
  ADMINS: list,
  MISSED_PUSHES: z.enum(['offer', 'run']).default('offer'),
  API_RATE_LIMIT: wholeNumber.pipe(z.number().max(1_000_000)).default(6000),
  METRICS_ANONYMOUS: z.enum(['true', 'false']).default('false'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  SLIPWAY_URL: httpUrl.optional(),
  SLIPWAY_TOKEN: optional,
});

export const settingNames: readonly string[] = Object.keys(settings.shape);

/** A typing error in one of these would weaken something without a word. */
const guardedPrefix = /^(SLIPWAY_|SANDBOX_|WEBHOOK_)/;

/** Throws UserError `config-invalid` whose message names the variable. */
export function readConfig(environment: Environment): Config {
  refuseUnknownNames(environment);
  // An empty variable counts as unset: that is what `NAME=` in a .env file means.
  const given = Object.fromEntries(settingNames.map((name) => [name, environment[name] || undefined]));
  const parsed = settings.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw invalid(
      `${issue?.path.join('.') ?? 'setting'}: ${issue?.message ?? 'not valid'}`,
      'See .env.example for what it may be.',
    );
  }
  const values = parsed.data;
  const dataDir = resolve(values.DATA_DIR);
  return {
    github: githubConfig(values),
    githubAddress: githubAddress(values),
    listen: { host: values.HOST, port: values.PORT },
    publicUrl: values.PUBLIC_URL ?? null,
    dataDir,
    databasePath: databasePath(values.DATABASE_URL, dataDir),
    secretKeyPath: values.SECRET_KEY_PATH ? resolve(values.SECRET_KEY_PATH) : join(dataDir, 'secret.key'),
    sandbox: {
      kind: values.SANDBOX,
      network: values.SANDBOX_NETWORK,
      allowedHosts: values.SANDBOX_ALLOWED_HOSTS,
      memoryBytes: values.SANDBOX_MEMORY_MB * 1024 * 1024,
      processes: values.SANDBOX_PROCESSES,
      untrustedHosts: values.SANDBOX_UNTRUSTED_HOSTS,
      upstreamProxy: upstreamProxy(values.SANDBOX_UPSTREAM_PROXY),
      cpus: values.SANDBOX_CPUS ?? null,
    },
    caBundle: values.CA_BUNDLE ? caBundle(resolve(values.CA_BUNDLE)) : null,
    workers: values.WORKERS ?? cpus().length,
    retention: {
      runsDays: values.RETENTION_RUNS_DAYS,
      logsDays: values.RETENTION_LOGS_DAYS,
      auditDays: values.RETENTION_AUDIT_DAYS,
    },
    cacheMaxBytes: values.CACHE_MAX_MB * 1024 * 1024,
    minFreeBytes: values.MIN_FREE_DISK_MB * 1024 * 1024,
    tools: {
      settings: {
        ...(values.PULUMI_PATH ? { pulumi: values.PULUMI_PATH } : {}),
        ...(values.TERRAFORM_PATH ? { terraform: values.TERRAFORM_PATH } : {}),
        ...(values.TOFU_PATH ? { tofu: values.TOFU_PATH } : {}),
        ...(values.OPA_PATH ? { opa: values.OPA_PATH } : {}),
      },
      path: environment['PATH'] ?? '',
      home: environment['HOME'] || homeOfUser(),
      xdgCacheHome: environment['XDG_CACHE_HOME'] ?? null,
    },
    webhookAllowedTargets: values.WEBHOOK_ALLOWED_TARGETS,
    missedPushes: values.MISSED_PUSHES,
    admins: values.ADMINS,
    metricsAnonymous: values.METRICS_ANONYMOUS === 'true',
    apiRateLimit: values.API_RATE_LIMIT,
    logLevel: values.LOG_LEVEL,
    remote: remoteConfig(values.SLIPWAY_URL, values.SLIPWAY_TOKEN),
  };
}

function refuseUnknownNames(environment: Environment): void {
  const unknown = Object.keys(environment).find(
    (name) => guardedPrefix.test(name) && !settingNames.includes(name),
  );
  if (unknown) throw invalid(`${unknown}: no such setting`, 'See .env.example for the names.');
}

/** Without one in the list of users it is the root, as login and containers have it: no tools are found there. */
function homeOfUser(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/** The path, of a file that holds at least one certificate. */
function caBundle(path: string): string {
  const hint = 'Give a file of certificates in PEM form, or leave the setting out for those of the system.';
  const pem = readSetting('CA_BUNDLE', path, hint);
  try {
    new X509Certificate(pem);
  } catch {
    throw invalid(`CA_BUNDLE: ${path} holds no certificate in PEM form`, hint);
  }
  return path;
}

function databasePath(url: string | null, dataDir: string): string {
  if (url === null) return join(dataDir, 'slipway.db');
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path === undefined) {
    throw invalid(
      'DATABASE_URL: only sqlite:<path> is supported in this version',
      'Leave it empty for DATA_DIR.',
    );
  }
  return isAbsolute(path) ? path : resolve(path);
}

function remoteConfig(url: string | undefined, token: string | null): Config['remote'] {
  if (url === undefined && token === null) return null;
  if (url === undefined) throw invalid('SLIPWAY_URL: missing', 'SLIPWAY_TOKEN is for a remote server.');
  if (token === null)
    throw invalid('SLIPWAY_TOKEN: missing', 'A remote server needs a token: slipway token create');
  return { url, token };
}
