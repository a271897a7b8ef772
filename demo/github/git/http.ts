/**
 * `git http-backend` behind HTTP: the CGI program that ships with Git, so protocol and packs are the real
 * thing. Read only. Authentication and routing are the caller's.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { execa } from 'execa';
import { gitEnvironment } from './process.ts';

export interface GitHttp extends AsyncDisposable {
  /** Serves `servicePath` ("info/refs" or "git-upload-pack") of a bare repository; resolves when answered. */
  serve(
    request: IncomingMessage,
    response: ServerResponse,
    gitDir: string,
    servicePath: string,
  ): Promise<number>;
}

export async function createGitHttp(): Promise<GitHttp> {
  const { stdout: execPath } = await execa('git', ['--exec-path'], { env: gitEnvironment, extendEnv: false });
  const program = join(execPath, 'git-http-backend');
  const running = new Set<ChildProcess>();

  return {
    serve(request, response, gitDir, servicePath) {
      const env = cgiEnvironment(request, gitDir, servicePath);
      const child = spawn(program, [], { env, stdio: ['pipe', 'pipe', 'inherit'] });
      running.add(child);
      // A client that hangs up must not leave a pack-objects behind that nobody reads.
      response.on('close', () => child.kill());
      // EPIPE: the backend answered (an error, say) without reading all of the request.
      child.stdin.on('error', () => request.resume());
      request.pipe(child.stdin);
      return new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', () => {
          running.delete(child);
          if (!response.headersSent) response.writeHead(500);
          response.end();
          resolve(response.statusCode);
        });
        relay(child.stdout, response);
      });
    },
    async [Symbol.asyncDispose]() {
      const closed = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)));
      for (const child of running) child.kill('SIGKILL');
      await Promise.all(closed);
    },
  };
}

/** Takes the CGI header off the output, then streams the rest as it comes. */
function relay(output: NodeJS.ReadableStream, response: ServerResponse): void {
  let head = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    output.off('data', onData);
    writeHead(response, head.subarray(0, end).toString('latin1'));
    response.write(head.subarray(end + 4));
    output.pipe(response, { end: false });
  };
  output.on('data', onData);
}

function writeHead(response: ServerResponse, text: string): void {
  let status = 200;
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}

function cgiEnvironment(request: IncomingMessage, gitDir: string, servicePath: string): NodeJS.ProcessEnv {
  const { headers } = request;
  const length = headers['content-length'];
  return {
    ...gitEnvironment,
    GIT_PROJECT_ROOT: gitDir,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: `/${servicePath}`,
    REQUEST_METHOD: request.method ?? 'GET',
    QUERY_STRING: new URL(request.url ?? '/', 'http://localhost').search.slice(1),
    CONTENT_TYPE: headers['content-type'] ?? '',
    // Absent for a chunked body: the backend then reads to the end of its input.
    ...(length === undefined ? {} : { CONTENT_LENGTH: length }),
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    REMOTE_ADDR: request.socket.remoteAddress ?? '',
  };
}
