import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const level = z.enum(['read', 'write', 'admin']);
export type PermissionLevel = z.output<typeof level>;

const definition = z.object({
  name: z.string().min(1),
  url: z.url(),
  public: z.boolean(),
  default_permissions: z.record(z.string(), level),
  default_events: z.array(z.string()),
});

/** What our App is on GitHub: app.yml says it, and nothing else. */
export interface AppDefinition {
  readonly name: string;
  /** Of the product, not of one server. */
  readonly url: string;
  readonly isPublic: boolean;
  readonly permissions: Readonly<Record<string, PermissionLevel>>;
  readonly events: readonly string[];
}

export function readAppDefinition(): AppDefinition {
  const text = readFileSync(join(import.meta.dirname, '../../app.yml'), 'utf8');
  const { default_permissions, default_events, public: isPublic, ...rest } = definition.parse(parse(text));
  return { ...rest, isPublic, permissions: default_permissions, events: default_events };
}

const ranks = { read: 1, write: 2, admin: 3 } as const;

/** Whether what was granted contains what is needed; GitHub may know levels that we do not. */
export function allows(granted: string | undefined, needed: PermissionLevel): boolean {
  return level.safeParse(granted).success && ranks[granted as PermissionLevel] >= ranks[needed];
}
