/**
 * Runs inside the sandbox, when a command has network: listens on loopback, where tools look for a proxy, and
 * passes bytes to the run's proxy socket. Starts the command once it listens and ends with its exit code.
 *
 * CommonJS because it starts 2 ms sooner than a module, of 26. It must not touch process.stdout or process.stderr:
 * Node would make them non-blocking for the command too, which shares them.
 */
'use strict';

const { spawn } = require('node:child_process');
const { accessSync, closeSync, constants, readFileSync, statSync, writeSync } = require('node:fs');
const net = require('node:net');
const { signals } = require('node:os').constants;
const { resolve } = require('node:path');

// The number of the descriptor that carries the command; its other end is the server's. The variables of the
// command come this way too, because those for Node (NODE_OPTIONS) must not reach this program.
const control = Number(process.argv[2]);
const { argv, environment, proxySocket, port } = JSON.parse(readFileSync(control, 'utf8'));

const server = net.createServer({ allowHalfOpen: true }, (client) => {
  const proxy = net.connect({ path: proxySocket, allowHalfOpen: true });
  client.on('error', () => proxy.destroy());
  proxy.on('error', () => client.destroy());
  client.on('close', () => proxy.end());
  client.pipe(proxy);
  proxy.pipe(client);
});

server.listen(port, '127.0.0.1', () => {
  if (!isProgram(argv[0])) {
    writeSync(control, 'not-found');
    process.exit(127);
  }
  // Before the command exists, so that it cannot speak in our name.
  closeSync(control);
  start();
});

function start() {
  const fail = (error) => {
    writeSync(2, `cannot start ${argv[0]}: ${error.message}\n`);
    process.exit(126);
  };
  try {
    const command = spawn(argv[0], argv.slice(1), { env: environment, stdio: 'inherit' });
    command.on('error', fail);
    command.on('exit', (code, signal) => process.exit(code ?? 128 + signals[signal]));
  } catch (error) {
    fail(error);
  }
}

/** The way execvp looks a name up. */
function isProgram(name) {
  if (name.includes('/')) return isExecutable(resolve(name));
  const folders = (environment.PATH ?? '/bin:/usr/bin').split(':');
  return folders.some((folder) => isExecutable(resolve(folder, name)));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

// From a hook that signals its own process group. The command decides what an interrupt means.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
