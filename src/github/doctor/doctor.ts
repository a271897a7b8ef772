import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { createApiBudget } from '../api-budget.ts';
import { readAppDefinition } from '../app-definition.ts';
import { createGithubApp, type GithubAppSettings } from '../github-app.ts';
import { askGithub } from './facts.ts';
import type { GithubFinding } from './finding.ts';
import { githubFindings } from './report.ts';

/** Whether GitHub knows our App as app.yml describes it, lets it do its work, and reaches this server. Changes nothing. */
export async function examineGithub(parts: {
  readonly settings: GithubAppSettings & { readonly webUrl: string };
  readonly publicUrl: string | null;
  readonly clock: Clock;
  readonly logger: Logger;
}): Promise<readonly GithubFinding[]> {
  const { settings, publicUrl, clock, logger } = parts;
  const definition = readAppDefinition();
  using app = await createGithubApp(settings, createApiBudget({ clock }), logger);
  const facts = await askGithub({ app, permissions: Object.keys(definition.permissions), clock });
  return githubFindings({ facts, definition, settings: { ...settings, publicUrl } });
}
