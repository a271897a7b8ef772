import type {
  EngineStanding,
  Evaluation,
  EvaluationRequest,
  PolicyEngine,
} from '../../src/policies/engine.ts';

const standing: EngineStanding = { kind: 'ready', engine: 'opa 1.22.0', path: '/usr/bin/opa' };

/**
 * An engine for what does not need one: rules are the lines `name: <JSON>`, with that value, and `name contains ...`, with
 * none; the line `!<message>` is an error of the compiler.
 */
export function engineDouble(change: Partial<PolicyEngine> = {}) {
  const evaluated: EvaluationRequest[] = [];
  const engine: PolicyEngine = {
    standing: async () => standing,
    async check({ body }) {
      const lines = body.split('\n');
      const errors = lines.flatMap((line, index) =>
        line.startsWith('!') ? [{ message: line.slice(1), line: index + 1, column: 1 }] : [],
      );
      if (errors.length > 0) return { kind: 'invalid', errors };
      const rules = rulesOf(body).map(({ name, line }) => ({ name, line, type: 'unknown' as const }));
      return { kind: 'valid', package: 'slipway', rules };
    },
    async evaluate(request): Promise<Evaluation> {
      evaluated.push(request);
      const rules = rulesOf(request.source.body).filter(({ name }) => request.rules.includes(name));
      const values = Object.fromEntries(rules.map(({ name, value }) => [name, value]));
      return { kind: 'evaluated', values, durationMs: 3 };
    },
    ...change,
  };
  return { engine, evaluated };
}

function rulesOf(body: string) {
  return body.split('\n').flatMap((text, index) => {
    const [, name, value = '[]'] = /^(\w+)(?:: (.+)| contains .+)$/.exec(text) ?? [];
    if (name === undefined) return [];
    return [{ name, line: index + 1, value: JSON.parse(value) as unknown }];
  });
}
