/** What the HTTP client alone can do: the same signed requests by the shortest way there is, nothing stored. */
import { Pool } from 'undici';
import { signatureHeaders, signingKey } from '../src/webhooks/sending/signature.ts';

export async function ceiling(
  origin: string,
  options: { readonly body: Buffer; readonly inFlight: number; readonly requests: number },
): Promise<{ readonly perSecond: number; readonly cpuOfThousand: number }> {
  const { body, inFlight, requests } = options;
  const pool = new Pool(origin, { connections: inFlight, pipelining: 1 });
  const key = signingKey('a secret');
  let sent = 0;
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()];
  await new Promise<void>((resolve, reject) => {
    let open = 0;
    function next(): void {
      if (sent === requests) {
        if (open === 0) resolve();
        return;
      }
      sent += 1;
      open += 1;
      const deliveryId = `01JDELIVERY${String(sent).padStart(15, '0')}`;
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Slipway/1.0.0',
        'accept-encoding': 'identity',
        'x-slipway-delivery': deliveryId,
        'x-slipway-attempt': '1',
        ...signatureHeaders(key, { body, deliveryId, timestamp: Math.floor(Date.now() / 1000) }),
      };
      pool.dispatch(
        { method: 'POST', path: '/ceiling', headers, body },
        {
          onRequestStart: () => undefined,
          onResponseStart: () => undefined,
          onResponseData: () => undefined,
          onResponseEnd() {
            open -= 1;
            next();
          },
          onResponseError: (_controller, error) => reject(error),
        },
      );
    }
    for (let index = 0; index < inFlight; index += 1) next();
  });
  const perSecond = requests / ((performance.now() - startedAt) / 1000);
  const used = process.cpuUsage(cpu);
  await pool.close();
  return { perSecond, cpuOfThousand: (used.user + used.system) / 1e6 / (requests / 1000) };
}
