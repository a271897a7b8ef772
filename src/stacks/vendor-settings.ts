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
}

/** All that stacks need of a vendor to judge what people want. */
export interface VendorRules extends VendorSettingsSchema, VendorForm {
  /** Whether the tool keeps that environment variable for itself. */
  refusesVariable(name: string): boolean;
}
