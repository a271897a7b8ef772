import type { Frozen } from '../runs/run-store.ts';
import {
  createRedactor,
  holdsSecret,
  indexSecrets,
  type Redactor,
  type SecretIndex,
} from '../sandbox/redaction/output.ts';
import { minimumSecretLength } from '../sandbox/redaction/secret-forms.ts';
import { createPatternRedactor } from '../sandbox/redaction/well-known-secrets.ts';

/**
 * What must not be seen of a run, as far as it is known by now: its secret variables, and what the tool marks as secret
 * in its plan. One for the whole assignment: whoever asks later hides more.
 */
export interface KnownSecrets extends HiddenValues {
  /** Without those of the tool, which the vendor itself has masked in a plan: it knows where they may stand. */
  readonly ofPeople: HiddenValues;
  /** Values of less than 4 characters are left out, as everywhere. */
  learn(values: readonly string[]): void;
  /** A command of the run said so (mask-commands.ts). False: it has said that of too much, and this is not hidden. */
  mask(values: readonly string[]): boolean;
  /** What was learned and masked, in the first half too. */
  ofTool(): readonly string[];
  /** For one stream, by what is known now; what looks like a well-known credential goes, too. */
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

/** Of a run. Each makes the search for the others anew. */
const mostMasks = 100;
const mostMaskedCharacters = 8 * 1024;

export function createKnownSecrets({
  variables,
  toolSecrets = [],
}: Pick<Frozen, 'variables' | 'toolSecrets'>): KnownSecrets {
  const ofPeople = variables.filter(({ secret }) => secret).map(({ value }) => value);
  const learned = new Set<string>();
  const masked = new Set<string>();
  let made: SecretIndex | null = null;
  let indexOfPeople: SecretIndex | null = null;
  let indexOfMasked: SecretIndex = indexSecrets([]);

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

  function mask(values: readonly string[]): boolean {
    const fresh = values.filter((value) => value.length >= minimumSecretLength && !masked.has(value));
    const all = [...masked, ...fresh];
    if (all.length > mostMasks || all.join('').length > mostMaskedCharacters) return false;
    for (const value of fresh) masked.add(value);
    if (fresh.length > 0) indexOfMasked = indexSecrets(all);
    return true;
  }

  const indexes = () => [index(), indexOfMasked];

  learn(toolSecrets);
  return {
    learn,
    mask,
    ofTool: () => [...learned, ...masked],
    newRedactor: () => newRedactor(indexes()),
    ofPeople: hiding(() => {
      indexOfPeople ??= indexSecrets(ofPeople);
      return [indexOfPeople];
    }),
    ...hiding(indexes),
  };
}

/** What is known, and then what looks like a credential though nobody said so. */
function newRedactor(indexes: readonly SecretIndex[]): Redactor {
  return [...indexes.map((index) => createRedactor(index)), createPatternRedactor()].reduce(
    (first, then) => ({
      write: (chunk) => then.write(first.write(chunk)),
      flush: (isCutShort) => Buffer.concat([then.write(first.flush(isCutShort)), then.flush(isCutShort)]),
    }),
  );
}

function hiding(indexes: () => readonly SecretIndex[]): HiddenValues {
  return {
    areNone: () => indexes().every(({ needles }) => needles === null),
    isIn: (text) => indexes().some((index) => holdsSecret(index, text)),
    hide(text) {
      const redactor = newRedactor(indexes());
      return Buffer.concat([redactor.write(Buffer.from(text)), redactor.flush()]).toString('utf8');
    },
  };
}
