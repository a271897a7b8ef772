/** Where it is to be seen from outside that an attack got through. */
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Evidence, ListenerName, Scene } from './scene.ts';

type Path = (scene: Scene) => string;

const after = (seen: Evidence['seen']): Evidence => ({ when: 'after', seen });
const during = (seen: Evidence['seen']): Evidence => ({ when: 'during', seen });

/** The program carried a secret of the server into the one place it may write. */
export const loot = after((scene) => textOf(join(scene.workspace, 'loot')).includes(scene.secret));

/** It carried this away. For what has no secret in it; the program writes it only when it succeeded. */
export const lootOf = (text: (scene: Scene) => string): Evidence =>
  after((scene) => textOf(join(scene.workspace, 'loot')).includes(text(scene)));

export const exists = (...paths: readonly Path[]): Evidence =>
  after((scene) => paths.some((path) => existsSync(path(scene))));

export const holds = (path: Path, text: (scene: Scene) => string): Evidence =>
  after((scene) => textOf(path(scene)).includes(text(scene)));

export const fileIs = (path: Path, judge: (stat: Stats) => boolean): Evidence =>
  after((scene) => existsSync(path(scene)) && judge(lstatSync(path(scene))));

export const reached = (listener: ListenerName): Evidence => after((scene) => scene.wasReached(listener));

export const survives = after((scene) => scene.processes().length > 0);

export const victimEnded = after(({ victim }) => {
  const state = /^State:\s+(\S)/m.exec(textOf(`/proc/${victim}/status`))?.[1];
  return state === undefined || state === 'Z';
});

export const answer = (judge: (answer: unknown, scene: Scene) => boolean): Evidence =>
  after((scene) => judge(scene.answer, scene));

/** What the server did told the secret. */
export const answerTells = answer((told, { secret }) => String(told).includes(secret));

export const outcomeIs = (judge: (outcome: NonNullable<Scene['outcome']>) => boolean): Evidence =>
  after(({ outcome }) => outcome !== null && judge(outcome));

/** A process of it has a file of /proc with such text. */
export const processShows = (
  file: 'status' | 'mountinfo' | 'uid_map' | 'stat' | 'oom_score_adj',
  judge: (text: string, scene: Scene) => boolean,
): Evidence =>
  during((scene) => scene.processes().some((pid) => judge(textOf(`/proc/${pid}/${file}`), scene)));

/** Looked for by its parent: who becomes root hides its environment. */
export const childRunsAsRoot = during((scene) => {
  const parents = scene.processes();
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => textOf(`/proc/${pid}/status`))
    .filter((text) => parents.includes(Number(/^PPid:\s+(\d+)/m.exec(text)?.[1])))
    .some((text) => /^Uid:\s+[1-9]\d*\s+0\s/m.test(text));
});

/** A process of it has this open. */
export const descriptor = (pattern: RegExp): Evidence =>
  during((scene) =>
    scene.processes().some((pid) => linksIn(`/proc/${pid}/fd`).some((link) => pattern.test(link))),
  );

export const namespaceIs = (name: 'net', expected: (scene: Scene) => string | undefined): Evidence =>
  during((scene) => scene.processes().some((pid) => linkOf(`/proc/${pid}/ns/${name}`) === expected(scene)));

export const moreProcessesThan = (count: number): Evidence =>
  during((scene) => scene.processes().length > count);

/** As the program names it, wherever that is on this machine. */
export const largerThan = (bytes: number, path: Path): Evidence =>
  during((scene) =>
    scene.processes().some((pid) => {
      try {
        return statSync(`/proc/${pid}/root${path(scene)}`).size > bytes;
      } catch {
        return false;
      }
    }),
  );

export const anywhere = (judge: (scene: Scene) => boolean): Evidence => after(judge);

/** Never through a link that the program has left; the beginning is enough. */
export function textOf(path: string): string {
  try {
    if (lstatSync(path).isSymbolicLink()) return '';
    return readFileSync(path, 'latin1').slice(0, 10_000_000);
  } catch {
    return '';
  }
}

function linksIn(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => linkOf(join(directory, name)) ?? '');
  } catch {
    return [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
