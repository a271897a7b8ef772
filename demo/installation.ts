/**
 * A whole installation on this machine, as a value that takes itself away: a stand-in GitHub with an account and its
 * people, the server as a separate process on SQLite, a receiver in Python, and a client with an administrator's token.
 * The demo tells its story on it, the scenario tests and the benchmarks use it as their world.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { z } from 'zod';
import { type StandInGithub, startStandInGithub } from './github/server.ts';
import { type Received, type ReceiverProcess, startReceiver } from './receiver.ts';
import { createServerProcess, freePort, type ServerProcess } from './server-process.ts';
import { createSlipwayApi, type SlipwayApi } from './slipway-api.ts';

export interface Installation extends AsyncDisposable {
  readonly dir: string;
  readonly dataDir: string;
  readonly github: StandInGithub;
  readonly server: ServerProcess;
  readonly receiver: ReceiverProcess;
  readonly api: SlipwayApi;
  /** Of the first administrator. */
  readonly token: string;
  /** What GitHub signs its webhooks with. */
  readonly githubSecret: string;
  /** The command line on this installation, as an operator types it. Whatever its exit code is. */
  slipway(...args: string[]): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }>;
  /** Another token, from the command line as an operator would make it. */
  createToken(name: string, role: 'admin' | 'writer' | 'reader'): Promise<string>;
  /** A private repository of acme that the App sees, with one commit that no push tells. */
  addRepository(name: string, files: Record<string, string>): ReturnType<StandInGithub['addRepository']>;
}

export interface InstallationOptions {
  /** Over the ordinary settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onReceived?: (received: Received) => void;
  readonly signal?: AbortSignal;
  /** The directory stays. */
  readonly isKept?: boolean;
}

const appId = 4711;
const commandLine = fileURLToPath(new URL('../bin/slipway.js', import.meta.url));
const tokenSchema = z.looseObject({ token: z.string().min(1) });

export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const { signal } = options;
  await using parts = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'slipway-demo-'));
  if (!options.isKept) parts.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 3 }));
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const privateKeyPath = join(dir, 'app.pem');
  await writeFile(privateKeyPath, keys.privateKey, { mode: 0o600 });
  const githubSecret = randomBytes(24).toString('hex');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;

  await mkdir(join(dir, 'github'));
  const github = await startStandInGithub({
    appId,
    publicKeyPem: keys.publicKey,
    webhook: { url: `${url}/api/github/webhooks`, secret: githubSecret },
    dir: join(dir, 'github'),
  });
  parts.use(github);
  addPeople(github);

  const onReceived = options.onReceived ? { onReceived: options.onReceived } : {};
  const receiver = await startReceiver({ secret: randomBytes(24).toString('base64'), ...onReceived });
  parts.use(receiver);

  const dataDir = join(dir, 'data');
  const environment = {
    ...environmentOfTools(),
    APP_ID: String(appId),
    PRIVATE_KEY_PATH: privateKeyPath,
    WEBHOOK_SECRET: githubSecret,
    GITHUB_CLIENT_ID: github.app.clientId,
    GITHUB_CLIENT_SECRET: github.app.clientSecret,
    GHE_HOST: new URL(github.url).host,
    GHE_PROTOCOL: 'http',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    DATA_DIR: dataDir,
    WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
    ...options.settings,
  };
  const logPath = join(dir, 'server.log');
  const server = createServerProcess({ environment, url, directory: dir, logPath, signal });
  parts.use(server);
  await server.start();
  // After the start, so that the server hears of it by webhook as from GitHub.
  await github.installApp('acme');

  async function slipway(...args: string[]) {
    const { exitCode, stdout, stderr } = await execa(process.execPath, [commandLine, ...args], {
      cwd: dir,
      env: environment,
      extendEnv: false,
      timeout: 60_000,
      reject: false,
    });
    return { exitCode, stdout, stderr };
  }
  async function createToken(name: string, role: string): Promise<string> {
    const { exitCode, stdout, stderr } = await slipway(
      'token',
      'create',
      '--name',
      name,
      '--role',
      role,
      '--json',
    );
    if (exitCode !== 0) throw new Error(`no token was made: ${stderr}`);
    return tokenSchema.parse(JSON.parse(stdout)).token;
  }
  const token = await createToken('demo', 'admin');
  const ended = parts.move();

  return {
    dir,
    dataDir,
    github,
    server,
    receiver,
    token,
    githubSecret,
    api: createSlipwayApi(url, token, signal),
    slipway,
    createToken,
    async addRepository(name, files) {
      const repository = await github.addRepository({ owner: 'acme', name, files });
      github.setPermission(repository, 'ada', 'admin');
      github.setPermission(repository, 'bob', 'write');
      github.setPermission(repository, 'cleo', 'read');
      return repository;
    },
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  };
}

function addPeople(github: StandInGithub): void {
  github.addAccount({ login: 'acme', type: 'Organization' });
  github.addUser({ login: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' });
  github.addUser({ login: 'bob', name: 'Bob Kahn', email: 'bob@example.com' });
  github.addUser({ login: 'cleo', name: 'Cleo Ptolemy', email: 'cleo@example.com', emailPublic: false });
}

/** What the server finds its tools and certificates by, and the operator's word on the sandbox; nothing else passes on. */
function environmentOfTools(): Record<string, string> {
  const tools = ['PULUMI_PATH', 'TERRAFORM_PATH', 'TOFU_PATH', 'OPA_PATH'];
  const names = ['PATH', 'HOME', 'XDG_CACHE_HOME', ...tools, 'SANDBOX', 'TMPDIR'];
  const given = names.map((name) => [name, process.env[name]] as const);
  const bundle = process.env['NODE_EXTRA_CA_CERTS'] || process.env['SSL_CERT_FILE'];
  const environment: Record<string, string> = {};
  for (const [name, value] of [...given, ['CA_BUNDLE', bundle] as const]) {
    if (value) environment[name] = value;
  }
  return environment;
}
