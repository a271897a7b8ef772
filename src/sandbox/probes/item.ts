/** One thing that the self-test has looked at. */
export interface SelfTestItem {
  /** What is looked at: "files", "loopback", ... No two of a result have the same. */
  readonly name: string;
  readonly ok: boolean;
  /** One line: what was found. */
  readonly detail: string;
  /** What to do, in lines; null when ok, and where only a person can tell. */
  readonly fix: string | null;
}

export function passed(name: string, detail: string): SelfTestItem {
  return { name, ok: true, detail, fix: null };
}

export function failed(name: string, detail: string, fix: string | null): SelfTestItem {
  return { name, ok: false, detail, fix };
}
