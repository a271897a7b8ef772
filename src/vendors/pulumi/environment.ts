import { pathToFileURL } from 'node:url';
import type { VendorContext } from '../../worker/vendor.ts';
import { pulumiSettings } from './settings.ts';

/** Set on every command of a run, hooks and tasks included. */
export function baseEnvironment(context: VendorContext): Record<string, string> {
  const { home, login } = context.paths;
  return {
    // Plugins, workspaces and logs of this run only; nothing is shared between runs.
    PULUMI_HOME: `${home}/.pulumi`,
    // After the plan the CLI finds the access token in the environment, or needs none.
    PULUMI_CREDENTIALS_PATH: login,
    // There is no keyring and no TPM inside; without this the CLI looks for them.
    PULUMI_CREDENTIAL_STORE: 'plaintext',
    // Without the variable, `backend.url` in the repository's Pulumi.yaml would win over `pulumi login`.
    PULUMI_BACKEND_URL: backendUrl(context),
    // Hooks that select another stack do not change what is previewed and applied.
    PULUMI_STACK: pulumiSettings(context.settings).stackName,
    // A checkout without Pulumi.<stack>.yaml uses the salt in the state instead of making a new one, so that a
    // saved plan can be decrypted and nothing is encrypted anew.
    PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER: 'true',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    // Plugins come from beside the binary and from PULUMI_HOME, not from whatever a hook put on PATH.
    PULUMI_IGNORE_AMBIENT_PLUGINS: 'true',
    PULUMI_OPTION_NON_INTERACTIVE: 'true',
    // Also strips colour markup from the messages of the event log.
    PULUMI_OPTION_COLOR: 'never',
    PULUMI_OPTION_SUPPRESS_PROGRESS: 'true',
  };
}

/** What `pulumi login` gets too: with equal URLs the CLI prints no warning. */
export function backendUrl(context: VendorContext): string {
  if (context.localStateDirectory !== null) return pathToFileURL(context.localStateDirectory).href;
  return pulumiSettings(context.settings).loginUrl;
}

/** Names of the commands' own environment (commands.ts) and of the base above. */
const setByUs = [
  'PULUMI_HOME',
  'PULUMI_CREDENTIALS_PATH',
  'PULUMI_CREDENTIAL_STORE',
  'PULUMI_BACKEND_URL',
  'PULUMI_STACK',
  'PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER',
  'PULUMI_SKIP_UPDATE_CHECK',
  'PULUMI_IGNORE_AMBIENT_PLUGINS',
  'PULUMI_DEBUG_COMMANDS',
  'PULUMI_SKIP_CONFIRMATIONS',
];

/** Names that would make a command of a phase mean something else than what was confirmed. */
const changesTheCommand = [
  // Where a URL-less login and an organisation-less stack name lead: both belong into the stack's settings.
  'PULUMI_API',
  'PULUMI_DEFAULT_ORGANIZATION',
  // Switches plan generation on in `up`, and commands that are not for production.
  'PULUMI_EXPERIMENTAL',
  'PULUMI_DEV',
  // A crash would lose everything since the start of the apply.
  'PULUMI_SKIP_CHECKPOINTS',
  // An apply must stop at the first step that is not what was confirmed.
  'PULUMI_CONTINUE_ON_ERROR',
  // The engine would talk to a process of the user's instead of starting the provider or language host.
  'PULUMI_DEBUG_PROVIDERS',
  'PULUMI_DEBUG_LANGUAGES',
];

/**
 * Any of these turns on "agent mode" (sdk/go/common/util/agentdetect): shared fallback credentials and output
 * meant for another reader.
 */
const agentMode = [
  'AI_AGENT',
  'ANTIGRAVITY_AGENT',
  'AUGMENT_AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE',
  'CLAUDE_CODE_IS_COWORK',
  'CODEX_CI',
  'CODEX_SANDBOX',
  'CODEX_THREAD_ID',
  'COPILOT_ALLOW_ALL',
  'COPILOT_GITHUB_TOKEN',
  'COPILOT_MODEL',
  'CURSOR_AGENT',
  'CURSOR_TRACE_ID',
  'GEMINI_CLI',
  'GOOSE_PROVIDER',
  'OPENCODE',
  'OPENCODE_CALLER',
  'OPENCODE_CLIENT',
  'REPL_ID',
];

const refusedNames = new Set([...setByUs, ...changesTheCommand, ...agentMode]);

/**
 * Every flag of every command has the form `PULUMI_OPTION_<FLAG>` (target, show-secrets, cwd, ...), hence the
 * whole namespace. What is about credentials, secrets, speed, storage or the program itself stays free:
 * PULUMI_ACCESS_TOKEN, PULUMI_CONFIG_PASSPHRASE(_FILE), PULUMI_PARALLEL, PULUMI_DIY_BACKEND_*, PULUMI_PYTHON_CMD,
 * PULUMI_RUN_PROGRAM (a preview of `destroy` sees it too), ...
 */
export function refusesVariable(name: string): boolean {
  return name.startsWith('PULUMI_OPTION_') || refusedNames.has(name);
}
