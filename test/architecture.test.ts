import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const src = join(root, 'src');

/** What may be imported from where: the table of docs/architecture.md. `a/b` allows that one file. */
const foundation = ['clock', 'ids', 'logger', 'user-error', 'tx'];
const allowed: Record<string, readonly string[]> = {
  clock: [],
  ids: ['clock'],
  logger: [],
  'user-error': [],
  tx: [],
  tools: ['user-error'],
  config: ['user-error'],
  access: foundation,
  sandbox: foundation,
  stacks: [...foundation, 'access'],
  runs: [...foundation, 'stacks', 'access'],
  policies: [...foundation, 'runs', 'stacks', 'sandbox', 'access'],
  webhooks: [...foundation, 'runs/run-event', 'access', 'stacks/stack', 'stacks/repository', 'runs/run'],
  worker: [...foundation, 'runs', 'stacks', 'sandbox'],
  vendors: [
    ...[...foundation, 'tools', 'worker/vendor', 'worker/vendor-results', 'stacks/vendor-settings'],
    ...['runs/plan/plan-value', 'sandbox/sandbox', 'sandbox/redaction/output'],
  ],
  metrics: [
    ...['clock', 'runs/run', 'runs/missed-pushes', 'webhooks/sending/attempt-observer'],
    ...['github/api-budget', 'github/reconcile/reconcile-observer'],
    ...['policies/policy', 'policies/judging-observer'],
  ],
  engine: [...foundation, 'runs/job-queue', 'storage/database', 'storage/schema'],
  storage: [...foundation, 'runs', 'stacks', 'access', 'webhooks', 'policies', 'github', 'metrics'],
  github: [...foundation, 'runs', 'stacks', 'access'],
  web: [...foundation, 'runs', 'stacks', 'policies', 'webhooks', 'access'],
  cli: [
    ...foundation,
    'config',
    'app',
    'without-server',
    'vendor-rules',
    'project-import',
    'local-policies',
    'installed-sandbox',
    'main',
    'sandbox/self-test',
    'access',
    'web/health',
    'webhooks/receiving',
    'github/setup',
    'github/app-definition',
    'github/simulate/decision',
    'github/simulate/events',
    'storage/care',
    'policies/check-source',
    'policies/opa-test',
    'policies/policy',
  ],
  doctor: ['policies/engine', 'sandbox/self-test', 'web/health', 'worker/vendor'],
  inspection: [
    ...['clock', 'config', 'doctor', 'policies/engine', 'storage/stores', 'worker/vendor'],
    ...['sandbox/watching/disk-use', 'sandbox/self-test', 'web/system-report'],
  ],
  'installed-vendors': ['config', 'tools', 'vendors', 'worker/vendor'],
  'installed-opa': ['config', 'tools'],
  'installed-sandbox': ['config', 'sandbox'],
  housekeeping: [
    ...foundation,
    'runs',
    'webhooks',
    'policies',
    'github/feedback',
    'access/sessions',
    'access/audit-log',
    'access/idempotency',
  ],
  serving: [
    ...['config', 'logger', 'github/github', 'policies/judge-loop', 'policies/opa', 'runs/runs'],
    ...[
      'sandbox/cgroup',
      'sandbox/leftovers',
      'sandbox/self-test',
      'storage/server-lock',
      'web/listen',
      'web/server',
    ],
    ...['webhooks/webhooks', 'worker/worker', 'worker/workspace'],
  ],
  main: ['config', 'app', 'logger', 'user-error'],
  'project-import': [
    'config',
    'user-error',
    'github/local-clone',
    'stacks/stack-input',
    'vendors/pulumi',
    'vendors/terraform',
  ],
  'local-policies': ['config', 'installed-opa', 'policies', 'sandbox'],
  'without-server': ['config', 'github/simulate', 'stacks/repository-file', 'vendor-rules'],
  'vendor-rules': ['stacks/vendor-settings', 'vendors/pulumi/rules', 'vendors/terraform/rules'],
};

interface SourceFile {
  readonly path: string;
  /** The folder below src, or the file's own name at its root. */
  readonly unit: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const files: readonly SourceFile[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(src, path), 'utf8');
    const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, target]) =>
      relative(src, join(src, dirname(path), target ?? '')).replace(/\.ts$/, ''),
    );
    return { path, unit: unitOf(path), text, imports };
  });

function unitOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : basename(path, '.ts');
}

function mayImport(unit: string, target: string): boolean {
  if (unit === 'app') return unitOf(target) !== 'cli' && unitOf(target) !== 'main';
  if (unitOf(target) === unit) return true;
  return (allowed[unit] ?? []).some((entry) => target === entry || target.startsWith(`${entry}/`));
}

describe('the architecture', () => {
  it('sees the source files', () => {
    expect(files.length).toBeGreaterThan(60);
    expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(200);
  });

  it('has every folder in the import table', () => {
    const units = new Set(files.map(({ unit }) => unit));
    expect([...units].filter((unit) => unit !== 'app' && !(unit in allowed))).toEqual([]);
  });

  it('imports only what the table allows', () => {
    const wrong = files.flatMap(({ path, unit, imports }) =>
      imports.filter((target) => !mayImport(unit, target)).map((target) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('refuses an edge that is not in the table', () => {
    expect(mayImport('runs', 'storage/run-store')).toBe(false);
    expect(mayImport('webhooks', 'runs/commands')).toBe(false);
    expect(mayImport('webhooks', 'runs/run-event')).toBe(true);
  });

  it('has no import cycle', () => {
    const graph = new Map(files.map(({ path, imports }) => [path.replace(/\.ts$/, ''), imports]));
    expect(findCycle(graph)).toBeNull();
  });

  it('keeps files small', () => {
    const long = files
      .filter(({ path }) => !path.startsWith('storage/migrations/'))
      .filter(({ text }) => text.split('\n').length > 400)
      .map(({ path }) => path);
    expect(long).toEqual([]);
  });

  it('names files in kebab-case, and none after a drawer', () => {
    const wrong = files.filter(
      ({ path }) =>
        !/^([a-z0-9-]+\/)*[a-z0-9-]+\.ts$/.test(path) ||
        /(^|\/)(utils?|helpers?|common|misc|manager|types|index)(\.ts|\/)/.test(path),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('reads the environment in one file only', () => {
    const readers = files.filter(({ text }) => /process\.env/.test(text)).map(({ path }) => path);
    expect(readers).toEqual(['config/environment.ts']);
  });

  it('re-exports nothing wholesale', () => {
    const reExporting = files.filter(({ text }) => /^export \* from/m.test(text)).map(({ path }) => path);
    expect(reExporting).toEqual([]);
  });
});

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string | null {
  const done = new Set<string>();
  const visit = (node: string, trail: readonly string[]): string | null => {
    if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node].join(' -> ');
    if (done.has(node)) return null;
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...trail, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return null;
}
