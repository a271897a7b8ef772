/** What Terraform and OpenTofu differ in; everything else here is the same for both. */
export interface Flavour {
  /** The key of a stack's settings, and the vendor's name everywhere. */
  readonly name: 'terraform' | 'opentofu';
  /** As people call it, and as its own `version` does. */
  readonly label: 'Terraform' | 'OpenTofu';
  /** The file's name, which is also what the commands of a run say. */
  readonly program: 'terraform' | 'tofu';
  readonly oldestVersion: readonly [number, number, number];
  /** The setting that names the program. */
  readonly setting: 'TERRAFORM_PATH' | 'TOFU_PATH';
  readonly installationPage: string;
  readonly projectFile: RegExp;
}

export const terraform: Flavour = {
  name: 'terraform',
  label: 'Terraform',
  program: 'terraform',
  // The first that says when a plan was made by an apply that failed, and that knows `import` blocks.
  oldestVersion: [1, 5, 0],
  setting: 'TERRAFORM_PATH',
  installationPage: 'https://developer.hashicorp.com/terraform/install',
  projectFile: /\.tf(\.json)?$/,
};

export const opentofu: Flavour = {
  name: 'opentofu',
  label: 'OpenTofu',
  program: 'tofu',
  oldestVersion: [1, 6, 0],
  setting: 'TOFU_PATH',
  installationPage: 'https://opentofu.org/docs/intro/install/',
  projectFile: /\.(tf|tofu)(\.json)?$/,
};
