import { rightsOf, type Trust } from '../trust.ts';

const reasons: Record<Trust, string> = {
  untrusted: 'it comes from a fork, or from a bot that is not trusted',
  branch: 'a preview of a branch of the repository',
  tracked: 'what is to be deployed',
  apply: 'a command of somebody who may deploy',
};

/** Why it is no more and no less; follows a colon. */
export const trustReason = (trust: Trust): string => reasons[trust];

/** Which variables the commands of a run see, as a sentence. `quote` marks what is an access. */
export function variablesInWords(trust: Trust, quote = (access: string) => `“${access}”`): string {
  const { access, hasSecrets } = rightsOf(trust);
  const variables = `variables of access ${joined(access.map(quote))}`;
  if (!hasSecrets) return `It runs without secrets: its commands see only plain ${variables}.`;
  const later = trust === 'tracked' ? `, and once it applies those of ${quote('apply')}` : '';
  return `Its commands see the ${variables}${later}.`;
}

/** All that the commands of a run get, as sentences. */
export function rightsInWords(trust: Trust): string {
  const { sharesCache, network } = rightsOf(trust);
  const cache = sharesCache ? 'the cache of the repository' : 'a copy of the cache of the repository';
  const hosts =
    network === 'all'
      ? 'the hosts that the server allows'
      : 'only the hosts that the server lists for untrusted runs';
  return `${variablesInWords(trust)} They work with ${cache} and reach ${hosts}.`;
}

const joined = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
