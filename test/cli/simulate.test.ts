import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startRecording } from '../github/simulate/recorded.ts';
import { tempDirectory } from '../support/temp-database.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

describe('slipway simulate', () => {
  it('prints what would become of a push, and opens nothing', async () => {
    await using installation = anInstallation();
    await using world = await startRecording();
    await world.push('main', { 'net/a': '2' });
    const { run, opened } = aCommandLine(installation);
    const input = JSON.stringify(world.payload('push'));
    const argv = ['simulate', '--event', 'push', '--payload', '-', '--checkout', world.clone()];

    const told = await run(argv, { input });
    const json = await run([...argv, '--json'], { input });

    expect(told).toMatchObject({ exitCode: 0, err: '' });
    expect(told.out).toMatch(/^changed +net\/a \(payload\)$/m);
    expect(told.out).toMatch(/^net +TRACKED +net\/a is below the project root$/m);
    expect(told.out).toMatch(/^- would be asked: /m);
    expect(json.json()).toMatchObject({ event: 'push', outcome: 'decided', stacks: expect.any(Array) });
    expect(opened).toEqual([]);
  });

  it('fails for a payload that would not be understood', async () => {
    await using installation = anInstallation();
    await using world = await startRecording();
    await world.push('main', { 'net/a': '2' });
    const input = JSON.stringify(world.payload('push'));
    const argv = ['simulate', '--event', 'pull_request', '--payload', '-', '--checkout', world.clone()];

    expect(await aCommandLine(installation).run(argv, { input })).toMatchObject({
      ...{ exitCode: 1, out: expect.stringContaining('payload not understood') },
    });
  });

  it.each([
    [['--event', 'release', '--payload', '-'], 2, /Allowed choices are push/],
    [['--event', 'push'], 2, /--payload/],
    [['--event', 'push', '--payload', '/nowhere'], 1, /cannot be read \(ENOENT\)/],
  ])('%j: says what is wrong', async (flags, exitCode, err) => {
    await using installation = anInstallation();

    const result = await aCommandLine(installation).run(['simulate', ...flags]);

    expect(result).toMatchObject({ exitCode, out: '', err: expect.stringMatching(err) });
  });

  it('says which file is no JSON', async () => {
    await using installation = anInstallation();
    using directory = tempDirectory();
    const path = join(directory.path, 'payload.json');
    writeFileSync(path, '{');

    const result = await aCommandLine(installation).run(['simulate', '--event', 'push', '--payload', path]);

    expect(result).toMatchObject({ exitCode: 1, err: expect.stringContaining(`${path}: it is not JSON`) });
  });
});
