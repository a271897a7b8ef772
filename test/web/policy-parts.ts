import type { Clock } from '../../src/clock.ts';
import { createIds, type NewId } from '../../src/ids.ts';
import type { Logger } from '../../src/logger.ts';
import type { PolicyEngine } from '../../src/policies/engine.ts';
import { createPolicyFeature } from '../../src/policies/policies-feature.ts';
import type { Database } from '../../src/storage/database.ts';
import { createDecisionStore } from '../../src/storage/decision-store.ts';
import { createFlagStore } from '../../src/storage/flag-store.ts';
import { createNoticeStore } from '../../src/storage/notice-store.ts';
import { createOverrideStore } from '../../src/storage/override-store.ts';
import { createPolicyStore } from '../../src/storage/policy-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createReviewStore } from '../../src/storage/review-store.ts';
import { createRunCauseStore } from '../../src/storage/run-cause-store.ts';
import { createRunList } from '../../src/storage/run-list.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSampleStore } from '../../src/storage/sample-store.ts';
import type { SecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { engineDouble } from '../policies/engine-double.ts';

/** Policies as the web has them, on a real database and an engine of the test. */
export function policyParts(
  database: Database,
  box: SecretBox,
  base: { readonly clock: Clock; readonly newId: NewId; readonly logger: Logger },
  engineChange: Partial<PolicyEngine> = {},
) {
  const stores = {
    runs: createRunStore(database, box),
    stacks: createStackStore(database, box),
    runList: createRunList(database),
    repositories: createRepositoryStore(database),
    policies: createPolicyStore(database),
    decisions: createDecisionStore(database, box, { ...base, newId: createIds(base.clock) }),
    samples: createSampleStore(database, box),
    overrides: createOverrideStore(database),
    flags: createFlagStore(database),
    reviews: createReviewStore(database),
    causes: createRunCauseStore(database),
    notices: createNoticeStore(database),
  };
  const { engine, evaluated } = engineDouble(engineChange);
  const feature = createPolicyFeature({
    ...{ ...base, transactions: database, stores, engine, ending: new AbortController().signal },
    observer: { judged: () => undefined },
    onChanged: async () => undefined,
    onLoginPolicyChanged: async () => undefined,
  });
  const { policies, sourceCheck, workbench } = feature;
  const { decisions, samples, causes, notices } = stores;
  return {
    web: { policies, sourceCheck, workbench, decisions, samples, causes, notices },
    feature,
    stores,
    evaluated,
  };
}
