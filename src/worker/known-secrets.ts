import type { Frozen } from '../runs/run-store.ts';
import {
  createRedactor,
  holdsSecret,
  indexSecrets,
  type Redactor,
  type SecretIndex,
} from '../sandbox/output.ts';
import { minimumSecretLength } from '../sandbox/secret-forms.ts';

/**
 * What must not be seen of a run, as far as it is known by now: its secret variables, and what the tool marks as secret
 * in its plan. One for the whole assignment: whoever asks later hides more.
 */
export interface KnownSecrets extends HiddenValues {
  /** Without those of the tool, which the vendor itself has masked in a plan: it knows where they may stand. */
  readonly ofPeople: HiddenValues;
  /** Values of less than 4 characters are left out, as everywhere. */
  learn(values: readonly string[]): void;
  /** What was learned, in the first half too. */
  ofTool(): readonly string[];
  /** For one stream, by what is known now. */
  newRedactor(): Redactor;
}

export interface HiddenValues {
  areNone(): boolean;
  isIn(text: string): boolean;
  hide(text: string): string;
}

/**
 * Of what was learned, in characters: so much is also looked for in base64 and URLs, which takes ten times as long, the
 * short ones first. Large values are seldom passwords.
 */
const mostEncoded = 128 * 1024;

export function createKnownSecrets({
  variables,
  toolSecrets = [],
}: Pick<Frozen, 'variables' | 'toolSecrets'>): KnownSecrets {
  const ofPeople = variables.filter(({ secret }) => secret).map(({ value }) => value);
  const learned = new Set<string>();
  let made: SecretIndex | null = null;
  let indexOfPeople: SecretIndex | null = null;

  function index(): SecretIndex {
    if (made) return made;
    let left = mostEncoded;
    const [encoded, plain]: [string[], string[]] = [[], []];
    for (const value of [...learned].sort((a, b) => a.length - b.length)) {
      left -= value.length;
      (left >= 0 ? encoded : plain).push(value);
    }
    made = indexSecrets([...ofPeople, ...encoded], plain);
    return made;
  }

  function learn(values: readonly string[]): void {
    const fresh = values.filter((value) => value.length >= minimumSecretLength && !learned.has(value));
    if (fresh.length === 0) return;
    for (const value of fresh) learned.add(value);
    made = null;
  }

  learn(toolSecrets);
  return {
    learn,
    ofTool: () => [...learned],
    newRedactor: () => createRedactor(index()),
    ofPeople: hiding(() => (indexOfPeople ??= indexSecrets(ofPeople))),
    ...hiding(index),
  };
}

function hiding(index: () => SecretIndex): HiddenValues {
  return {
    areNone: () => index().needles === null,
    isIn: (text) => holdsSecret(index(), text),
    hide(text) {
      const redactor = createRedactor(index());
      return Buffer.concat([redactor.write(Buffer.from(text)), redactor.flush()]).toString('utf8');
    },
  };
}
