import type { Place } from '../access/permissions.ts';
import type { Stack } from '../stacks/stack.ts';
import type { RunState } from './run.ts';
import type { Bucket, StackSummary } from './stack-summary.ts';

/** What is left out does not matter. Case matters in none of them but labels (of letters beyond ASCII in all). */
export interface StackFilter {
  /** Login of the owner. */
  readonly account?: string;
  readonly bucket?: Bucket;
  readonly label?: string;
  /** owner/name */
  readonly repository?: string;
  /** Somewhere in the name, id, repository, project root or a label. */
  readonly text?: string;
}

/** `attention`: by bucket, what asks for most first; `changed`: the last change of state first. */
export const stackSorts = ['attention', 'name', 'changed'] as const;
/** `age`: in the order of their making. */
export type StackSort = (typeof stackSorts)[number] | 'age';

export interface ListedStack {
  readonly stack: Stack;
  readonly summary: StackSummary | null;
  /** For `after`: a JSON array of text and integers, the last of them the stack's key. */
  readonly position: string;
}

/** What is counted of a stack. */
export interface CountedStack extends Place {
  /** Of its summary; null: the filter does not let the stack pass. */
  readonly state: RunState | 'NONE' | null;
  readonly labels: readonly string[];
}

/** Many stacks at once. What a caller may not read is left out by the caller of this. */
export interface StackList {
  page(
    filter: StackFilter,
    options: { readonly sort: StackSort; readonly after: string | null; readonly limit: number },
  ): Promise<readonly ListedStack[]>;
  /** All of the account, or of the instance. */
  counted(filter: Omit<StackFilter, 'bucket'>): Promise<readonly CountedStack[]>;
  /** Those of an account, those with that id, or all. */
  places(which: {
    readonly account?: string;
    readonly id?: string;
  }): Promise<readonly (Place & { readonly key: string })[]>;
}
