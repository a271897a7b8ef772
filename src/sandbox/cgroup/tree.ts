/** What the kernel says about control groups, as text. Pure; the files are those of cgroup v2. */

/** Where a cgroup v2 hierarchy is mounted: `root` is the cgroup that is seen at `mountPoint`. */
export interface CgroupMount {
  readonly root: string;
  readonly mountPoint: string;
  readonly writable: boolean;
}

/** From the text of /proc/self/cgroup. Null: there is no cgroup v2, or ours was removed. */
export function ownCgroup(text: string): string | null {
  const path = /^0::(\/.*)$/m.exec(text)?.[1];
  return path === undefined || path.endsWith(' (deleted)') ? null : path;
}

/** From the text of /proc/self/mountinfo, in the order of mounting. */
export function cgroupMounts(text: string): CgroupMount[] {
  return text.split('\n').flatMap((line) => {
    const [mount = '', fileSystem = ''] = line.split(' - ');
    if (!fileSystem.startsWith('cgroup2 ')) return [];
    const [, , , root = '', mountPoint = '', options = ''] = mount.split(' ');
    return [
      {
        root: unescaped(root),
        mountPoint: unescaped(mountPoint),
        writable: options.split(',').includes('rw'),
      },
    ];
  });
}

/** The directory of a cgroup, or null where no mount shows it. */
export function directoryOf(path: string, { root, mountPoint }: CgroupMount): string | null {
  if (root === '/') return path === '/' ? mountPoint : mountPoint + path;
  if (path === root) return mountPoint;
  return path.startsWith(`${root}/`) ? mountPoint + path.slice(root.length) : null;
}

/** Of a flat keyed file (`name value` a line), such as memory.events or cpu.stat. Null: not there, or no number. */
export function valueIn(text: string, name: string): number | null {
  const value = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1];
  return value === undefined ? null : Number(value);
}

/** Of a file with one value, such as memory.peak; null for `max`. */
export function numberIn(text: string): number | null {
  return /^\d+$/.test(text.trim()) ? Number(text) : null;
}

export function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** mountinfo writes blanks, tabs, line breaks and backslashes as three octal digits. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
