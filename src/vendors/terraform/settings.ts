import { z } from 'zod';
import { localStateOf } from '../local-state.ts';

const maxPathLength = 500;
const file = z
  .string()
  .max(maxPathLength)
  .regex(/^(?![/\\-])[^\p{Cc}\\]+$/u, 'a path in the repository, relative to the project root')
  .nullish();

/** Everything may be left out: then the program's own backend block and the workspace `default` count. */
export const settingsSchema = z.strictObject({
  stateUrl: z
    .string()
    .refine((url) => localStateOf(url) !== null, {
      message:
        'file:///state or file:///state/<name>; leave it out when the program has a backend block of its own',
    })
    .nullish(),
  workspace: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,89}$/, 'letters, digits and _ . - only, 90 at most')
    .nullish(),
  backendConfigFile: file,
  variableFile: file,
});
