import { expect, test } from 'vitest';
import { createInProcessApi } from '../../../src/web/ui/in-process-api.ts';

test.each(['..', '.'])('an id that is %j does not lead to another route', async (id) => {
  const asked: string[] = [];
  const api = createInProcessApi(async ({ url }) => {
    asked.push(url);
    return Response.json({});
  });

  const path = `/api/v1/deliveries/${encodeURIComponent(id)}/resend`;
  await expect(api.send('POST', path)).rejects.toMatchObject({ code: 'not-found' });
  await api.send('POST', `/api/v1/deliveries/${encodeURIComponent("../a'(%2e")}/resend?x='`);

  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain("/api/v1/deliveries/..%2Fa'(%252e/resend");
});
