import { webhookPath } from '../setup/manifest.ts';
import type { DeliveryFacts, GithubFacts } from './facts.ts';
import type { GithubFinding, SettingsPages } from './finding.ts';

const name = 'github webhook';

/** `publicUrl` null: PUBLIC_URL is not set, and only the path can be judged. */
export function hookFinding(
  hook: GithubFacts['hook'],
  publicUrl: string | null,
  page: string,
): GithubFinding {
  if ('failed' in hook) {
    const hint = `Is there a webhook at all? ${page}`;
    return { name, status: 'problem', detail: `GitHub does not tell its settings: ${hook.failed}`, hint };
  }
  const hint = `Change it there: ${page}`;
  const wrong = hookProblem(hook, publicUrl);
  if (wrong !== null) return { name, status: 'problem', detail: wrong, hint };
  if (hook.insecure_ssl === '1') {
    return { name, status: 'warning', detail: 'GitHub does not check the certificate of this server', hint };
  }
  if (publicUrl === null) {
    const unset = 'PUBLIC_URL is not set, so nobody knows whether it leads here';
    return { name, status: 'warning', detail: `to ${hook.url}; ${unset}`, hint: 'Set PUBLIC_URL.' };
  }
  return { name, status: 'ok', detail: `to ${hook.url}` };
}

function hookProblem(
  hook: Exclude<GithubFacts['hook'], { failed: string }>,
  publicUrl: string | null,
): string | null {
  const url = hook.url ?? '';
  if (url === '') return 'no URL is set: nothing is sent';
  if (publicUrl !== null && url !== `${publicUrl}${webhookPath}`) {
    return `it goes to ${url}, and PUBLIC_URL says ${publicUrl}${webhookPath}`;
  }
  if (!url.endsWith(webhookPath)) return `it goes to ${url}, which does not end in ${webhookPath}`;
  if (hook.content_type !== 'json')
    return `it is sent as ${hook.content_type ?? 'form'}, and must be as json`;
  if (!hook.secret) return 'no secret is set: every delivery is refused as unsigned';
  return null;
}

export function deliveriesFinding(
  deliveries: GithubFacts['deliveries'],
  nowMs: number,
  pages: SettingsPages,
): GithubFinding {
  const finding = { name: 'github deliveries' } as const;
  if ('failed' in deliveries) {
    return {
      ...finding,
      status: 'problem',
      detail: `GitHub does not tell them: ${deliveries.failed}`,
      hint: 'Try again in a moment.',
    };
  }
  const [newest] = deliveries;
  if (newest === undefined) {
    const hint = 'One comes with every installation and every push; is the webhook active?';
    return { ...finding, status: 'warning', detail: 'none yet', hint: `${hint} ${pages.general}` };
  }
  const failed = deliveries.filter((each) => !hasArrived(each));
  const event = newest.action ? `${newest.event}.${newest.action}` : newest.event;
  const last = `the newest (${event}, ${age(newest, nowMs)}) was answered ${answerOf(newest)}`;
  if (!hasArrived(newest)) {
    return {
      ...finding,
      status: 'problem',
      detail: last,
      hint: `${whatToDo(newest)} All of them: ${pages.advanced}`,
    };
  }
  if (failed.length === 0) return { ...finding, status: 'ok', detail: last };
  const [latest] = failed;
  const detail = `${last}, but ${failed.length} of the last ${deliveries.length} failed`;
  const hint = latest
    ? `The last of them was answered ${answerOf(latest)}, ${age(latest, nowMs)}. ${pages.advanced}`
    : '';
  return { ...finding, status: 'warning', detail, hint };
}

const hasArrived = ({ status_code }: DeliveryFacts): boolean => status_code >= 200 && status_code < 300;

/** GitHub's own words say more than a made-up status where nobody answered. */
const isUnanswered = ({ status, status_code }: DeliveryFacts): boolean =>
  status_code === 0 || /connect|timed? ?out|resolve|certificate|ssl|tls|peer/i.test(status);

function answerOf(delivery: DeliveryFacts): string {
  return isUnanswered(delivery) ? `by nobody (${delivery.status})` : String(delivery.status_code);
}

function whatToDo(delivery: DeliveryFacts): string {
  if (isUnanswered(delivery)) {
    return 'GitHub cannot reach this server: is it running, and may GitHub pass the firewall, on that port, with a certificate it trusts?';
  }
  const { status_code: status } = delivery;
  if (status === 401) return "WEBHOOK_SECRET here and the webhook secret on the App's page differ.";
  if (status === 403) return 'Something in front of this server refuses GitHub: look at the proxy.';
  if (status === 404 || status === 405)
    return `Something else answers at that address: it must lead to ${webhookPath} of this server.`;
  if (status >= 300 && status < 400) return 'GitHub follows no redirect: give the address that it leads to.';
  if (status === 413) return 'A proxy in front limits the size of requests: GitHub sends up to 25 MB.';
  if (status === 503 || status === 507) return 'The server could not store it: look at its disk and log.';
  return 'Look at the log of the server, and of the proxy in front of it.';
}

function age({ delivered_at }: DeliveryFacts, nowMs: number): string {
  const minutes = Math.floor(Math.max(nowMs - Date.parse(delivered_at), 0) / 60_000);
  if (Number.isNaN(minutes)) return 'at an unknown time';
  if (minutes < 120) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}
