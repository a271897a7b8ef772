import type { ToolTrouble } from '../stacks/vendor-settings.ts';

/** What a vendor reads from what its commands have left: the answers of the port in vendor.ts. */

export type PlanResult =
  | {
      readonly kind: 'planned';
      /** True also when nothing but outputs would change. False: an apply would do nothing at all. */
      readonly hasChanges: boolean;
      readonly delta: Delta;
      /**
       * In the order in which the tool would take them, which tells the two kinds of replacement apart; with what stays
       * the same. Drift that was found is a `refresh` (old: as recorded, new: as found). Outputs of the stack are those of
       * a step `same` that is not `custom`. JSON objects with exactly the fields of the specification §2.3.
       */
      readonly steps: readonly PlanStep[];
      /** What the tool says of resources besides, for people; only of those of which it says something. */
      readonly marks?: readonly ResourceMark[];
      /** Plain name of the plan file in the output directory; null when the tool saved none. */
      readonly planFile: string | null;
      /** What policies see of the plan instead of `{ steps }`. */
      readonly document?: PlanDocument;
      /**
       * Values that the tool marks as secret: hidden in everything that the run says from now on. In this result they are
       * masked already, as "[secret]".
       */
      readonly secrets?: readonly string[];
    }
  | VendorFailure;

export type ApplyResult = { readonly kind: 'applied' } | VendorFailure;

export interface VendorFailure {
  /**
   * `failed`: the tool says so. `unreadable`: its answer cannot be trusted. `plan-changed`: what it would do
   * now is not what was confirmed.
   */
  readonly kind: 'failed' | 'unreadable' | 'plan-changed';
  /** Fit for a check run: what happened. May have several lines. */
  readonly message: string;
  /** What a person can do, when we recognise the error. */
  readonly hint?: string;
  /** What Slipway offers to mend. */
  readonly trouble?: ToolTrouble;
}

/** The plan in the tool's own form, secrets masked. */
export interface PlanDocument {
  /** The key in the input of plan policies. */
  readonly name: string;
  /** JSON. */
  readonly content: unknown;
  /**
   * Keys and texts in it that stay what they are, even where a secret is the same: what policies look for, as "actions",
   * "delete", and the types of resources. Left out: none.
   */
  readonly words?: readonly string[];
}

/** Of resources. A replacement is one added and one deleted; `resources` is how many there are after the apply. */
export interface Delta {
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
  readonly resources: number;
}

export interface ResourceMark {
  readonly urn: string;
  /** Paths of the properties that force its replacement. */
  readonly replacedFor: readonly string[];
  /** The tool refuses to delete it. */
  readonly isProtected: boolean;
}

/** `old` is null for what is new, `new` for what goes. */
export interface PlanStep {
  readonly op: 'same' | 'refresh' | 'create' | 'update' | 'delete' | 'create-replacement' | 'delete-replaced';
  readonly provider: string;
  readonly type: string;
  readonly urn: string;
  readonly new: ResourceState | null;
  readonly old: ResourceState | null;
}

/** Whatever the tool calls them: an identity that stays over runs (urn), the parent's or "", what was asked for and what came of it. */
export interface ResourceState {
  readonly custom: boolean;
  readonly id: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly parent: string;
  readonly provider: string;
  readonly type: string;
  readonly urn: string;
}
