/** Adding people and organisations. */
import type { Account, GithubState } from './state.ts';

export interface NewAccount {
  login: string;
  type: 'Organization' | 'User';
}

export interface NewUser {
  login: string;
  name: string;
  email: string;
  id?: number;
  /** False: GitHub shows the noreply address instead. */
  emailPublic?: boolean;
}

export function addAccount(state: GithubState, { login, type }: NewAccount): Account {
  return store(state, { id: state.nextId(), login, type, name: null, email: null, emailPublic: false });
}

export function addUser(state: GithubState, user: NewUser): Account {
  const { login, name, email } = user;
  const emailPublic = user.emailPublic ?? true;
  return store(state, { id: user.id ?? state.nextId(), login, type: 'User', name, email, emailPublic });
}

/** Of an App: its commits have the noreply address. */
export function addBot(state: GithubState, login: string): Account {
  return store(state, {
    id: state.nextId(),
    login,
    type: 'Bot',
    name: login,
    email: null,
    emailPublic: false,
  });
}

function store(state: GithubState, account: Account): Account {
  const key = account.login.toLowerCase();
  if (state.accounts.has(key))
    throw new Error(`the stand-in GitHub has an account "${account.login}" already`);
  state.accounts.set(key, account);
  return account;
}

/** Who acts when a scenario does not care: the first person added, or one made for it. */
export function defaultActor(state: GithubState): Account {
  const people = [...state.accounts.values()].filter(
    (account) => account.type === 'User' && account.email !== null,
  );
  return people[0] ?? addUser(state, { login: 'octocat', name: 'Mona Lisa', email: 'octocat@example.com' });
}
