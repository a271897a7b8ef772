import type { z } from 'zod';

/**
 * What a stack stores about its tool, opaque to everyone but the vendor: exactly one key, the vendor's
 * name, e.g. `{ pulumi: { loginUrl, stackName } }`.
 */
export type VendorSettings = Readonly<Record<string, unknown>>;

/** What a vendor gives so that stacks can be validated without knowing any vendor. */
export interface VendorSettingsSchema {
  /** The key under which the settings stand, and the vendor's name everywhere. */
  readonly name: string;
  /** Of the value under that key. Throws a UserError with a fixed code (e.g. `login-url-not-allowed`) for what a schema cannot say. */
  readonly schema: z.ZodType;
}

/** A vendor as people meet it in forms: what they are asked, in this order. The schema judges the answers. */
export interface VendorForm {
  readonly name: string;
  /** As people call it: "Pulumi". */
  readonly label: string;
  readonly fields: readonly VendorField[];
}

/** One setting under the vendor's key, as text. */
export interface VendorField {
  readonly name: string;
  readonly label: string;
  /** What it is for and what is possible, in a sentence or two. */
  readonly help: string;
  readonly example: string;
  /** May be left out. */
  readonly isOptional?: true;
}

/** All that stacks need of a vendor to judge what people want. */
export interface VendorRules extends VendorSettingsSchema, VendorForm {
  /** True for names that users and hooks must not set, because they would change what a command means. */
  refusesVariable(name: string): boolean;
  /**
   * What mends it, as the command of a TASK run; null when nothing can be offered. Whatever of the trouble stands in the
   * command is checked: it was read from what the tool said, which a program can imitate.
   */
  mend(trouble: ToolTrouble): string | null;
}

/** What the state of a tool can be in that no further run mends by itself. */
export type ToolTrouble =
  | {
      /** Somebody else holds the tool's own lock, or did when it was killed. */
      readonly kind: 'state-locked';
      /** By which the tool releases it; null when it has none. */
      readonly lockId: string | null;
      /** e.g. "runner@host, process 17". */
      readonly holder: string | null;
      readonly sinceMs: number | null;
    }
  | {
      /** An operation was cut off, so the state may not know a resource that there is. */
      readonly kind: 'pending-operations';
      readonly operations: readonly { readonly op: string; readonly urn: string }[];
    };
