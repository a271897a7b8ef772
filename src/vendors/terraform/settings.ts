import { z } from 'zod';
import type { VendorSettings } from '../../stacks/vendor-settings.ts';
import { type LocalState, localStateOf, localStatePattern } from '../local-state.ts';

const maxPathLength = 500;
const aPath = 'a path in the repository, relative to the project root';
/** As the published description of the settings can say it, too. */
const control = String.raw`\u0000-\u001f\u007f-\u009f`;
const file = z
  .string()
  .max(maxPathLength)
  .regex(new RegExp(`^[^/\\\\${control}-][^\\\\${control}]*$`), aPath)
  .nullish();

/** Everything may be left out: then the program's own backend block and the workspace `default` count. */
export const settingsSchema = z
  .strictObject({
    stateUrl: z
      .string()
      .regex(
        localStatePattern,
        'file:///state or file:///state/<name>; leave it out when the program has a backend block of its own',
      )
      .nullish(),
    workspace: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,89}$/, 'letters, digits and _ . - only, 90 at most')
      .nullish(),
    backendConfigFile: file,
    variableFile: file,
  })
  .refine(({ stateUrl, backendConfigFile }) => !(stateUrl && backendConfigFile), {
    path: ['backendConfigFile'],
    message: 'has no meaning for state kept by Slipway: leave out one of the two',
  });

/** What a stack says of its tool; null is "left out". */
export interface TerraformSettings {
  readonly localState: LocalState | null;
  readonly workspace: string | null;
  readonly backendConfigFile: string | null;
  readonly variableFile: string | null;
}

/** The settings of a stack, under the vendor's name, which `settingsSchema` accepted when they were stored. */
export function terraformSettings(settings: VendorSettings, vendorName: string): TerraformSettings {
  const { stateUrl, workspace, backendConfigFile, variableFile } = settingsSchema.parse(settings[vendorName]);
  return {
    localState: stateUrl ? localStateOf(stateUrl) : null,
    workspace: workspace ?? null,
    backendConfigFile: backendConfigFile ?? null,
    variableFile: variableFile ?? null,
  };
}
