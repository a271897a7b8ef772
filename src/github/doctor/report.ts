import { type AppDefinition, allows } from '../app-definition.ts';
import type { AppFacts, Failure, GithubFacts, InstallationFacts } from './facts.ts';
import type { GithubFinding, SettingsPages } from './finding.ts';
import { eventUses, permissionUses } from './needs.ts';
import { deliveriesFinding, hookFinding } from './webhook-report.ts';

export interface ReportInput {
  readonly facts: GithubFacts;
  readonly definition: AppDefinition;
  readonly settings: { readonly appId: number; readonly webUrl: string; readonly publicUrl: string | null };
}

/** What the facts mean for people; pure. */
export function githubFindings(input: ReportInput): readonly GithubFinding[] {
  const { facts, settings } = input;
  const clock = facts.clockSkewMs === null ? [] : [clockFinding(facts.clockSkewMs)];
  if ('failed' in facts.app) return [refusedApp(facts.app, settings), ...clock];
  const app = facts.app;
  const pages = settingsPages(app, settings.webUrl);
  return [
    { name: 'github app', status: 'ok', detail: `${app.name}, ${app.html_url}` },
    ...clock,
    permissionsFinding(app, input.definition, pages.permissions),
    eventsFinding(app, input.definition, pages.permissions),
    hookFinding(facts.hook, settings.publicUrl, pages.general),
    deliveriesFinding(facts.deliveries, facts.nowMs, pages),
    ...installationFindings(facts.installations, app, input.definition),
  ];
}

function settingsPages({ slug, owner }: AppFacts, webUrl: string): SettingsPages {
  const organisation = owner?.type === 'Organization' && owner.login ? `/organizations/${owner.login}` : '';
  const general = `${webUrl}${organisation}/settings/apps/${slug}`;
  return { general, permissions: `${general}/permissions`, advanced: `${general}/advanced` };
}

function refusedApp({ failed, status }: Failure, { appId, webUrl }: ReportInput['settings']): GithubFinding {
  const finding = { name: 'github app', status: 'problem' } as const;
  if (status === 401) {
    const hint =
      'PRIVATE_KEY_PATH must be a key of this very App: generate one on its page, or look at the clock.';
    return { ...finding, detail: `GitHub refuses the key of App ${appId}: ${failed}`, hint };
  }
  if (status === 404) {
    return {
      ...finding,
      detail: `GitHub knows no App ${appId}`,
      hint: 'APP_ID stands on the page of the App.',
    };
  }
  if (status !== null)
    return { ...finding, detail: `GitHub answered ${status}: ${failed}`, hint: 'Try again in a moment.' };
  const hint = `Can this machine reach ${webUrl}? GHE_HOST chooses another GitHub.`;
  return { ...finding, detail: `GitHub could not be asked: ${failed}`, hint };
}

/** Signatures of webhooks are refused by most receivers when they are five minutes off. */
const wrongClockMs = 5 * 60_000;
const oddClockMs = 10_000;

function clockFinding(skewMs: number): GithubFinding {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const name = 'github clock';
  if (Math.abs(skewMs) < oddClockMs) return { name, status: 'ok', detail: 'the same time as here' };
  const detail = `the clock here is ${seconds} s ${skewMs > 0 ? 'slow' : 'fast'}`;
  const hint =
    'Let it be set by NTP: the App signs in with it, and receivers of webhooks refuse old signatures.';
  return { name, status: Math.abs(skewMs) < wrongClockMs ? 'warning' : 'problem', detail, hint };
}

function permissionsFinding(app: AppFacts, { permissions }: AppDefinition, page: string): GithubFinding {
  const name = 'github permissions';
  const missing = Object.entries(permissions).filter(([key, level]) => !allows(app.permissions[key], level));
  if (missing.length > 0) {
    const detail = missing.map(
      ([key, level]) => `${key} ${level} is missing: ${permissionUses[key] ?? 'see app.yml'}`,
    );
    return {
      name,
      status: 'problem',
      detail: detail.join('; '),
      hint: `Change it there, then accept it for each installation: ${page}`,
    };
  }
  const more = Object.entries(app.permissions).filter(([key, level]) => {
    const needed = permissions[key];
    return needed === undefined || !allows(needed, asLevel(level));
  });
  const detail = pairs(Object.entries(permissions));
  if (more.length === 0) return { name, status: 'ok', detail };
  return {
    name,
    status: 'warning',
    detail: `more than is used: ${pairs(more)}`,
    hint: `It can be taken away: ${page}`,
  };
}

/** A level that GitHub has and we do not know is more than any. */
const asLevel = (level: string) => (level === 'read' || level === 'write' ? level : 'admin');

const pairs = (entries: readonly (readonly [string, string])[]): string =>
  entries.map(([key, level]) => `${key} ${level}`).join(', ');

function eventsFinding(app: AppFacts, { events }: AppDefinition, page: string): GithubFinding {
  const name = 'github events';
  const missing = events.filter((event) => !app.events.includes(event));
  if (missing.length === 0) return { name, status: 'ok', detail: events.join(', ') };
  const detail = missing
    .map((event) => `${event} is not subscribed: ${eventUses[event] ?? 'see app.yml'}`)
    .join('; ');
  return { name, status: 'problem', detail, hint: `Below the permissions: ${page}` };
}

function installationFindings(
  installations: GithubFacts['installations'],
  app: AppFacts,
  definition: AppDefinition,
): readonly GithubFinding[] {
  const name = 'github installations';
  if ('failed' in installations) {
    return [
      {
        name,
        status: 'problem',
        detail: `GitHub did not tell them: ${installations.failed}`,
        hint: 'Try again in a moment.',
      },
    ];
  }
  if (installations.length > 0)
    return installations.map((each) => installationFinding(each, app, definition));
  const hint = `Install it on the repositories that have stacks: ${app.html_url}/installations/new`;
  return [{ name, status: 'warning', detail: 'the App is installed nowhere', hint }];
}

function installationFinding(
  installation: InstallationFacts,
  app: AppFacts,
  { permissions, events }: AppDefinition,
): GithubFinding {
  const { account, html_url: page, repositories } = installation;
  const name = `github on ${account?.login ?? account?.slug ?? installation.id}`;
  if (installation.suspended_at) {
    return {
      name,
      status: 'warning',
      detail: 'suspended: nothing works there',
      hint: `Whoever suspended it can end that: ${page}`,
    };
  }
  // What the App itself lacks is said once.
  const unaccepted = Object.entries(permissions).filter(
    ([key, level]) => allows(app.permissions[key], level) && !allows(installation.permissions[key], level),
  );
  const deaf = events.filter((event) => app.events.includes(event) && !installation.events.includes(event));
  if (unaccepted.length + deaf.length > 0) {
    const losses = [
      ...unaccepted.map(
        ([key, level]) => `${key} ${level} is not accepted: ${permissionUses[key] ?? 'see app.yml'}`,
      ),
      ...deaf.map((event) => `${event} does not come: ${eventUses[event] ?? 'see app.yml'}`),
    ];
    return {
      name,
      status: 'problem',
      detail: losses.join('; '),
      hint: `An owner of the account accepts it there: ${page}`,
    };
  }
  return repositoriesFinding(name, installation.repository_selection, repositories, page);
}

function repositoriesFinding(
  name: string,
  selection: string,
  repositories: InstallationFacts['repositories'],
  page: string,
): GithubFinding {
  if (repositories === null) return { name, status: 'ok', detail: 'everything is granted; not tried' };
  if ('failed' in repositories) {
    const detail = `its repositories cannot be listed: ${repositories.failed}`;
    return { name, status: 'problem', detail, hint: 'Try again in a moment.' };
  }
  const { count, tried, refused } = repositories;
  if (refused.length > 0) {
    const detail = `granted, and yet refused when ${tried} was read: ${refused.join(', ')}`;
    return {
      name,
      status: 'problem',
      detail,
      hint: 'The account or an enterprise may limit Apps, e.g. by an IP allow list.',
    };
  }
  if (count === 0) {
    return {
      name,
      status: 'warning',
      detail: 'no repository is selected',
      hint: `Select those that have stacks: ${page}`,
    };
  }
  const proof =
    tried === null
      ? 'everything is granted; without a private repository nothing was tried'
      : `tried on ${tried}`;
  const all =
    selection === 'all'
      ? `all repositories, ${count} now`
      : `${count} selected ${count === 1 ? 'repository' : 'repositories'}`;
  return { name, status: 'ok', detail: `${all}; ${proof}` };
}
