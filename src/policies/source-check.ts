import { type FieldIssue, UserError } from '../user-error.ts';
import type { SourceError } from './engine.ts';
import type { PolicyKind, PolicySource } from './policy.ts';

/** Of a source that can be a policy of a kind. Throws `policy-invalid` and `policy-engine-unavailable`. */
export type SourceCheck = (kind: PolicyKind, source: PolicySource) => Promise<CheckedPolicy>;

export interface CheckedPolicy {
  /** Of the rules that the kind reads, those that the source declares. */
  readonly rules: readonly string[];
  /** What is allowed and yet most likely not meant. */
  readonly hints: readonly string[];
}

/** As check-source.ts has it. */
type Checked =
  | ({ readonly kind: 'valid' } & CheckedPolicy)
  | { readonly kind: 'invalid'; readonly errors: readonly SourceError[] }
  | { readonly kind: 'unavailable'; readonly reason: string };

export function createSourceCheck(
  check: (kind: PolicyKind, source: PolicySource) => Promise<Checked>,
): SourceCheck {
  return async (kind, { body, regoVersion }) => {
    const checked = await check(kind, { body, regoVersion });
    switch (checked.kind) {
      case 'valid':
        return { rules: checked.rules, hints: checked.hints };
      case 'invalid':
        throw invalidSource(checked.errors);
      case 'unavailable':
        throw new UserError('policy-engine-unavailable', `No policy can be checked: ${checked.reason}.`, {
          hint: 'Nothing is saved that was not checked. `slipway doctor` says more.',
        });
    }
  };
}

function invalidSource(errors: readonly SourceError[]): UserError {
  const issues = errors.map((error): FieldIssue => ({ path: 'body', ...error }));
  const [first] = issues;
  const place = first?.line === undefined ? '' : `line ${first.line}: `;
  return new UserError('policy-invalid', `${place}${first?.message ?? 'the policy was refused'}`, { issues });
}
