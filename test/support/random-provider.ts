import { providerMirror } from './provider-mirror.ts';

/** See providerMirror. */
export const randomProviderMirror = (directory: string, inside = directory): Promise<string> =>
  providerMirror('random', directory, inside);
