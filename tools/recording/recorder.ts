/** What a tool brings so that `npm run record` can record it, and what the recordings are made of. */
import type { VendorCommand } from '../../src/worker/vendor.ts';

/** `folder` is empty and goes with everything in it. */
export type OpenRecorder = (folder: string) => Promise<Recorder>;

export interface Recorder {
  /** As each recording says it: `pulumi 3.259.0`. */
  readonly tool: string;
  readonly stories: readonly Story[];
}

/** Commands on one fresh stack, one after the other. */
export interface Story {
  readonly name: string;
  /** The names of the recordings it makes. */
  readonly records: readonly string[];
  /** `folder` is its own. */
  tell(folder: string): AsyncIterable<Recording>;
}

/** What became of one phase. Nothing in it is neutral yet. */
export interface Recording {
  readonly name: string;
  /** In their order; the last one only may have failed. */
  readonly commands: readonly { readonly command: VendorCommand; readonly result: Result }[];
  /** By plain name: what the recording has besides the streams. */
  readonly files: Readonly<Record<string, string>>;
  /** Whether a plan was saved, recorded or not. */
  readonly hasPlan: boolean;
  /** Texts that tell of this machine, and what stands for them. */
  readonly places: Readonly<Record<string, string>>;
}

export interface Result {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}
