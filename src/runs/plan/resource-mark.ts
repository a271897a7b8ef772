/** What the tool says of a resource in a plan besides its step, for people. */
export interface ResourceMark {
  readonly urn: string;
  /** Paths of the properties that force its replacement. */
  readonly replacedFor: readonly string[];
  /** The tool refuses to delete it. */
  readonly isProtected: boolean;
}
