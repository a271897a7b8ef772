/**
 * Holds the network of a run open: runs in a sandbox of its own whose loopback interface the commands of the run join,
 * listens there where tools look for a proxy, and passes bytes to the run's proxy socket.
 *
 * CommonJS because it starts 2 ms sooner than a module, of 26. Arguments: path of the socket, port.
 */
'use strict';

const { writeSync } = require('node:fs');
const net = require('node:net');

const [path, port] = process.argv.slice(2);

const server = net.createServer({ allowHalfOpen: true }, (client) => {
  const proxy = net.connect({ path, allowHalfOpen: true });
  client.on('error', () => proxy.destroy());
  proxy.on('error', () => client.destroy());
  client.on('close', () => {
    proxy.end();
    // Unread, its end would not be seen.
    proxy.resume();
  });
  client.pipe(proxy);
  proxy.pipe(client);
});

server.listen(Number(port), '127.0.0.1', () => writeSync(1, 'listening\n'));
