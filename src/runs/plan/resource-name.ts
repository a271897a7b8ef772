/**
 * What the URN of a step says to people. It is Pulumi's, `urn:pulumi:dev::shop::acme:index:Site$aws:s3/bucket:Bucket::logs`, or
 * an address of Terraform, `module.net["a"].aws_s3_bucket.logs`.
 */

/** `logs`, which may have colons of its own; an address is a name as it stands. */
export function nameOf(urn: string): string {
  if (!urn.startsWith('urn:')) return urn;
  const [, , , ...name] = urn.split('::');
  return name.join('::') || urn;
}

/** `aws:s3/bucket:Bucket`; "" when the URN does not say it, as that of a module. */
export function typeIn(urn: string): string {
  if (!urn.startsWith('urn:')) return '';
  return urn.split('::')[2]?.split('$').at(-1) ?? '';
}

/** `module.net["a.b"]`; a key may hold anything, quotes with a backslash before them included. */
const moduleStep = /module\.[^.[\]"]+(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?/sy;

/** True for the address of a module. No tool plans a step for it. */
export function isModule(address: string): boolean {
  return modulesIn(address).at(-1)?.length === address.length;
}

/** `module.a.module.b` → `module.a`; "" at the top, and for all that is no module. */
export function moduleAround(address: string): string {
  return isModule(address) ? (modulesIn(address).at(-2) ?? '') : '';
}

/** The modules that an address leads through, the outermost first. */
function modulesIn(address: string): readonly string[] {
  const found: string[] = [];
  let end = 0;
  while (end === 0 || address[end] === '.') {
    moduleStep.lastIndex = end === 0 ? 0 : end + 1;
    if (!moduleStep.test(address)) break;
    end = moduleStep.lastIndex;
    found.push(address.slice(0, end));
  }
  return found;
}
