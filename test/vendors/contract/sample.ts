import type { Vendor } from '../../../src/worker/vendor.ts';

/** A program as every tool can say it: the situations of the contract, without the words of a tool. */
export interface Program {
  /** Created in this order where one mentions the other. */
  readonly resources?: readonly Resource[];
  readonly outputs?: Readonly<Record<string, Text>>;
  /** It reads this file whenever it is planned: of a pipe it waits for the end. */
  readonly reads?: string;
}

export type Resource =
  /** Lives in the state alone. With `replaced` another value makes another resource of it. */
  | {
      readonly kind: 'value';
      readonly name: string;
      readonly value: Text;
      readonly replaced?: 'create-first' | 'delete-first';
    }
  /** A file outside of the state, by its absolute path; another content is an update. */
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly path: Text;
      readonly content: Text;
      readonly after?: string;
    }
  /** Says "began" into a pipe; from then on its creation ends only when the tool is interrupted. */
  | { readonly kind: 'endless'; readonly name: string; readonly pipe: string; readonly after?: string }
  /** Stops the process of the tool itself (SIGSTOP), says "began" into a pipe, and never ends. */
  | { readonly kind: 'freezing'; readonly name: string; readonly pipe: string; readonly after?: string };

export type Text =
  | string
  /** The program marks it as secret. */
  | { readonly secret: string }
  /** The variable `token` of the program, which is secret. */
  | { readonly variable: 'token' }
  /** What the resource of that name holds. */
  | { readonly of: string };

export const value = (name: string, text: Text): Resource => ({ kind: 'value', name, value: text });

/** One row of the contract: a tool, and how it says what the cases are about. */
export interface Subject {
  readonly vendor: Vendor;
  /** Of a stack whose state Slipway keeps below this name. */
  settings(stateName: string): Readonly<Record<string, unknown>>;
  /** What its stacks have in their environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files of the checkout. */
  source(program: Program): Readonly<Record<string, string>>;
  /** Programs that read the variable `token` get it from this variable of the environment. */
  readonly tokenVariable: string;
  /** Hooks without which its programs do not see that variable. */
  readonly tokenHooks: readonly string[];
  /** Cannot be parsed. `place`: what a note has to say of where. */
  readonly brokenSource: { readonly files: Readonly<Record<string, string>>; readonly place: RegExp };
  /** As the program names it; null for what the tool adds by itself (root, outputs). */
  nameOf(urn: string): string | null;
  /** Counted in deltas besides what the program has. */
  readonly rootResources: number;
  /** Names and values of resources in the state that lies in this directory of the host. */
  recorded(stateDirectory: string): Readonly<Record<string, string | null>>;
  /** Prints an output of the stack. */
  printOutput(name: string): string;
}
