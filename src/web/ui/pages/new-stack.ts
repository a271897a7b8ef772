import { html } from 'hono/html';
import { z } from 'zod';
import { UserError } from '../../../user-error.ts';
import { repositorySchema } from '../../api/repositories.ts';
import { stackSchema } from '../../api/stack-object.ts';
import { problemNotice, textField } from '../components/form-field.ts';
import { type Draft, formRefusal, freshDraft, refusedDraft } from '../draft.ts';
import { ApiRefusal } from '../in-process-api.ts';
import { formToken, type Markup, type Page } from '../layout.ts';
import type { Form, FormResult, View } from '../page-routes.ts';
import { stackPath } from '../stack-path.ts';
import { branchField, projectRootField } from './settings/stack-fields.ts';
import {
  chosenVendor,
  type Vendor,
  vendorChoice,
  vendorNameField,
  vendorSettingsIn,
  vendorsOf,
} from './settings/vendor-fields.ts';

type Repository = z.output<typeof repositorySchema>;

const repositoryList = z.object({ items: z.array(repositorySchema), nextCursor: z.string().nullable() });

/** Asks for what a stack cannot do without; everything else has a default, and a page of settings. */
export async function newStackPage(view: View): Promise<Page> {
  const vendors = await vendorsOf(view);
  const tool = vendors.find(({ installed }) => installed) ?? vendors[0];
  const first = { repository: view.query('repository') ?? '', [vendorNameField]: tool?.name ?? '' };
  return pageWith(view, vendors, freshDraft(first));
}

async function pageWith(view: View, vendors: readonly Vendor[], draft: Draft): Promise<Page> {
  const { items, nextCursor } = await view.api.get('/api/v1/repositories?limit=100', repositoryList);
  const body = html`<p class="crumbs"><a href="/">Stacks</a></p><h1>New stack</h1>
<p>A stack is a directory of a repository with the tool it is run with. It can also be written into <code>.github/slipway.yml</code> of the repository,
which then decides its settings.</p>
${items.length === 0 && nextCursor === null ? noRepositories : ''}${problemNotice(draft)}
<form method="post" action="/stacks/new">${formToken(view.session)}
${repositoryField(draft, items, nextCursor !== null)}
${textField(draft, {
  ...{ name: 'name', label: 'Name' },
  attributes: html` required maxlength="100" autocomplete="off"`,
  help: 'As people read it, e.g. Network Prod. Its id, network-prod, is made of it and stays when the name changes.',
})}
${textField(draft, { ...projectRootField, attributes: html` class="mono" spellcheck="false" placeholder="network"` })}
${textField(draft, {
  ...branchField,
  attributes: html` class="mono" spellcheck="false"`,
  help: `${branchField.help} Empty: the default branch of the repository.`,
})}
${vendorChoice(draft, vendors)}
<button class="primary">Create stack</button></form>`;
  return { title: 'New stack', section: 'stacks', styles: ['settings.css'], body };
}

function repositoryField(draft: Draft, repositories: readonly Repository[], areMore: boolean): Markup {
  const possible = repositories.filter(({ archived }) => !archived);
  const more = areMore ? ' Not all that you administer are offered: the others can be typed.' : '';
  return html`${textField(draft, {
    ...{ name: 'repository', label: 'Repository' },
    attributes: html` required list="repositories" class="mono" spellcheck="false" autocapitalize="off" autocomplete="off" placeholder="acme/infra"`,
    help: `One that the GitHub App is installed on and that you administer.${more}`,
  })}<datalist id="repositories">${possible.map(({ repository }) => html`<option value="${repository}"></option>`)}</datalist>`;
}

const noRepositories = html`<div class="notice person"><p>The GitHub App sees no repository that you administer.</p>
<p>Install it on one: <a href="/account">your account</a> says where. Or ask an administrator of the repository to make the stack.</p></div>`;

export async function createStack(form: Form): Promise<FormResult> {
  const vendors = await vendorsOf(form);
  const vendor = chosenVendor(form, vendors);
  const [projectRoot, branch] = [form.field('projectRoot').trim(), form.field('branch').trim()];
  try {
    const made = await form.api.send('POST', '/api/v1/stacks', {
      ...{ name: form.field('name').trim(), repository: form.field('repository').trim(), projectRoot },
      ...(branch !== '' && { branch }),
      vendor: vendor ? { [vendor.name]: vendorSettingsIn(form, vendor) } : {},
    });
    const { account, id } = stackSchema.parse(made);
    return { goTo: stackPath(account, id) };
  } catch (error) {
    const { problem, status } = formRefusal(isNotTheirs(error) ? notAdministered() : error);
    return { page: await pageWith(form, vendors, refusedDraft(form, problem)), status };
  }
}

/** Asked live; until then anything could be typed. */
const isNotTheirs = (error: unknown): boolean =>
  error instanceof ApiRefusal && (error.code === 'not-found' || error.code === 'forbidden');

function notAdministered(): UserError {
  const issues = [
    { path: 'repository', message: 'the App is not installed on it, or you do not administer it' },
  ];
  return new UserError('invalid-input', 'Only administrators of a repository make stacks of it.', { issues });
}
