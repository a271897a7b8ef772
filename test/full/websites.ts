/** Websites on an address of this machine, with a certificate of an authority made for the test. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createGitHttp } from '../../demo/github/git/http.ts';

export interface Websites extends AsyncDisposable {
  readonly port: number;
  /** A PEM file. */
  readonly authority: string;
}

export interface WebsiteOptions {
  /** For keys and certificates. */
  readonly directory: string;
  readonly address: string;
  readonly names: readonly string[];
  /** By path. */
  readonly files: ReadonlyMap<string, string | Buffer>;
  /** A bare repository, served below /sample.git. */
  readonly repository: string;
}

export async function startWebsites(options: WebsiteOptions): Promise<Websites> {
  const { directory, address, names, files, repository } = options;
  const certificate = makeCertificate(directory, names);
  const git = await createGitHttp();
  const server = createServer(certificate, (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'https://a.example');
    const servicePath = /^\/sample\.git\/(.+)$/.exec(pathname)?.[1];
    const file = files.get(pathname);
    if (servicePath !== undefined) void git.serve(request, response, repository, servicePath);
    else if (file === undefined) response.writeHead(404).end();
    else {
      // Pulumi wants to know the length.
      const headers = { 'content-type': contentType(pathname), 'content-length': Buffer.byteLength(file) };
      response.writeHead(200, headers).end(file);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    authority: join(directory, 'ca.pem'),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await git[Symbol.asyncDispose]();
    },
  };
}

function contentType(path: string): string {
  return path.endsWith('.json') ? 'application/json' : 'application/octet-stream';
}

function makeCertificate(directory: string, names: readonly string[]): { key: Buffer; cert: Buffer } {
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const san = `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`;
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-subj',
    '/CN=Test',
    '-days',
    '2',
    '-out',
    'ca.pem',
  );
  const subject = ['-subj', `/CN=${names[0]}`, '-addext', san];
  openssl('req', '-new', ...newKey, '-keyout', 'site.key', ...subject, '-out', 'site.csr');
  const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-copy_extensions', 'copy'];
  openssl('x509', '-req', '-in', 'site.csr', ...authority, '-days', '1', '-out', 'site.pem');
  return { key: readFileSync(join(directory, 'site.key')), cert: readFileSync(join(directory, 'site.pem')) };
}
