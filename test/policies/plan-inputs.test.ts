import { describe, expect, it } from 'vitest';
import { inputSchemas } from '../../src/policies/json-schemas.ts';
import { createPlanInputs } from '../../src/policies/plan-inputs.ts';
import type { PlanDocument, StoredPlan } from '../../src/runs/run-store.ts';
import { aRun, aStack } from '../support/builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { aStep } from './inputs.ts';
import { aTerraformPlan } from './terraform-plan.ts';

const document = { name: 'terraform', content: aTerraformPlan() };
const steps = [aStep('delete', { type: 'aws_db_instance' })];
const about = { run: aRun({ state: 'PLANNING' }), stack: aStack(), steps, custom: {} };

const inputsOf = (plan: StoredPlan | null = null, kept: PlanDocument | null = null) =>
  createPlanInputs({
    runs: { newestFinished: async () => null, plan: async () => plan, planDocument: async () => kept },
    flags: { of: async () => [] },
    clock: manualClock(),
  });

describe('what plan policies see', () => {
  it('is the document of the tool where there is one, and not the steps', async () => {
    const input = await inputsOf().of({ ...about, document });

    expect(Object.keys(input)).toEqual(['terraform', 'slipway', 'third_party_metadata']);
    expect(input['terraform']).toBe(document.content);
    expect(input.slipway.run.changes).toHaveLength(1);
    expect(inputSchemas.PLAN.safeParse(input).error).toBeUndefined();
  });

  it('is the steps where there is none', async () => {
    const input = await inputsOf().of(about);

    expect(Object.keys(input)).toEqual(['pulumi', 'slipway', 'third_party_metadata']);
    expect(input['pulumi']).toEqual({ steps });
  });

  it('is the same of a run that is over', async () => {
    const plan = { hasChanges: true, steps };

    expect(await inputsOf(plan, document).ofRecorded(about.run, about.stack)).toEqual(
      await inputsOf().of({ ...about, document }),
    );
    expect(await inputsOf(plan).ofRecorded(about.run, about.stack)).toEqual(await inputsOf().of(about));
    expect(await inputsOf().ofRecorded(about.run, about.stack)).toBeNull();
  });
});
