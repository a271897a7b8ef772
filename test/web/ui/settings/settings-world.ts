import type { Role } from '../../../../src/access/actor.ts';
import { openBrowser } from '../browser.ts';

export const settings = '/stacks/acme/network-prod/settings';
export const endpoint = 'https://hooks.example.com/slipway';

/** Whatever people type that is markup elsewhere. */
export const hostile = '<script>alert(1)</script><img src=x onerror=alert(1)>"\'&';

/** Somebody with that role is logged in, and there is a stack. */
export async function openSettings(role: Role | null) {
  const all = openBrowser();
  const { installation } = all;
  const stack = await installation.addStack('Network Prod');
  if (role) installation.roles.set('ada', role);
  await all.logIn();
  /** As a browser sends a form: a list is a field that is there several times. */
  const submit = async (path: string, fields: Record<string, string | readonly string[]> = {}) => {
    const body = new URLSearchParams({ form_token: await all.formToken() });
    for (const [name, value] of Object.entries(fields)) {
      for (const each of [value].flat()) body.append(name, each);
    }
    return all.visit(path, { method: 'POST', body });
  };
  const storedStack = async () => (await installation.stackStore.findByKey(stack.key))?.settings;
  return { ...all, stack, submit, storedStack, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

/** What stands in the fields of the last form of a page, as a browser would send it untouched. */
export function formFields(page: string, action: string): Record<string, string[]> {
  const form = page.split('<form ').find((part) => part.startsWith(`method="post" action="${action}"`)) ?? '';
  const [inside = ''] = form.split('</form>');
  const found: [string, string][] = [];
  for (const [tag, name = ''] of inside.matchAll(/<(?:input|textarea|select)\b[^>]* name="([^"]*)"[^>]*>/g)) {
    if (tag.startsWith('<textarea')) {
      const from = inside.indexOf(tag) + tag.length;
      found.push([name, inside.slice(from, inside.indexOf('</textarea>', from)).replace(/^\n/, '')]);
      continue;
    }
    if (/type="(checkbox|radio)"/.test(tag) && !tag.includes(' checked')) continue;
    found.push([name, / value="([^"]*)"/.exec(tag)?.[1] ?? '']);
  }
  const fields: Record<string, string[]> = {};
  for (const [name, value] of found) fields[name] = [...(fields[name] ?? []), unescaped(value)];
  return fields;
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** No form but those that log out and look something up. */
export const formsOf = (page: string): number =>
  (page.match(/<form method="post"/g) ?? []).length - (page.match(/action="\/logout"/g) ?? []).length;
