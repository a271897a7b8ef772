/** The way out of a run with a network. */
import type { OpenNetwork, Sandbox } from '../sandbox.ts';
import { ask, troubleOf } from './ask.ts';
import { probeConfinement } from './confinement.ts';
import { failed, passed, type SelfTestItem } from './item.ts';

const request =
  '(exec 3<>/dev/tcp/127.0.0.1/3128 && printf "CONNECT example.invalid:443 HTTP/1.1\\r\\n\\r\\n" >&3 && head -n1 <&3)';

/**
 * Commands with a network get into their sandbox by another way, so what keeps them in is asked again. The network allows
 * no host: what counts is that the forwarder runs and the proxy answers.
 */
export async function probeNetwork(
  sandbox: Sandbox,
  stateDirectory: string,
  network: OpenNetwork,
): Promise<SelfTestItem[]> {
  const confined = await probeConfinement(sandbox, stateDirectory, network);
  if (confined.trouble !== null) return [failed('network', `With network: ${confined.trouble}`, null)];
  const again = confined.items.map((item) => ({
    ...item,
    name: `${item.name}, with network`,
    detail: item.ok ? item.detail : `With network: ${item.detail}`,
  }));
  return [...again, await probeProxy(sandbox, network)];
}

async function probeProxy(sandbox: Sandbox, network: OpenNetwork): Promise<SelfTestItem> {
  const answer = await ask(sandbox, { argv: ['bash', '-c', request], network });
  const trouble = troubleOf(answer);
  if (trouble !== null) return failed('proxy', `With network: ${trouble}`, null);
  return answer.output.startsWith('HTTP/1.1 403')
    ? passed('proxy', 'answers inside, and refuses what is not allowed')
    : failed(
        'proxy',
        `The proxy of a run does not answer inside the sandbox (${answer.output.trim()}).`,
        null,
      );
}
