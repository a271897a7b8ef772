import type { AppDefinition } from '../app-definition.ts';

/** What GitHub is asked to make. */
export interface ManifestInput {
  readonly definition: AppDefinition;
  readonly name: string;
  /** Where GitHub and people reach the server, without a trailing slash. */
  readonly publicUrl: string;
  /** Where GitHub sends the browser with the code once the App is made. */
  readonly redirectUrl: string;
}

/** The path of the server that takes GitHub's webhooks. */
export const webhookPath = '/api/github/webhooks';

/** The JSON that the form carries; the names are GitHub's. */
export function manifestOf({ definition, name, publicUrl, redirectUrl }: ManifestInput): string {
  return JSON.stringify({
    name,
    url: publicUrl,
    hook_attributes: { url: `${publicUrl}${webhookPath}`, active: true },
    redirect_url: redirectUrl,
    // Where people get to once they have installed it: the stacks, which say what to do next.
    setup_url: publicUrl,
    callback_urls: [`${publicUrl}/login/callback`],
    public: definition.isPublic,
    default_permissions: definition.permissions,
    default_events: definition.events,
  });
}

/** Where the form goes: the App will belong to the organisation, or to the person who sends the form. */
export function registrationUrl(webUrl: string, organisation: string | null, state: string): string {
  const owner = organisation === null ? '' : `/organizations/${encodeURIComponent(organisation)}`;
  return `${webUrl}${owner}/settings/apps/new?${new URLSearchParams({ state })}`;
}
