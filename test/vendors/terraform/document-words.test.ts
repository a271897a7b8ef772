import { expect, it } from 'vitest';
import { documentWords } from '../../../src/vendors/terraform/document-words.ts';
import { checkPlan } from '../../../src/vendors/terraform/plan-json.ts';
import { aTerraformPlan } from '../../policies/terraform-plan.ts';

it('has what policies look for: the keys of a change, its actions and types, and no name of the program', () => {
  const checked = checkPlan(aTerraformPlan());
  if ('problem' in checked) throw new Error(checked.problem);
  const words = documentWords(checked.plan);

  const keys = Object.keys(aTerraformPlan().resource_changes[1]?.change ?? {});
  expect(words).toEqual(expect.arrayContaining([...keys, 'resource_changes', 'delete', 'aws_db_instance']));
  expect(words).not.toContain('logs');
  expect(new Set(words).size).toBe(words.length);
});
