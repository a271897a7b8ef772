#!/usr/bin/env node
/**
 * A provider plugin of Pulumi without dependencies, for programs that need a world outside of the state: `world:File` is a
 * file, `world:Wait` a resource whose creation ends only when it is interrupted, `world:Freeze` one that stops pulumi itself. It speaks gRPC over node:http2, as far as
 * strings need it: every property is one.
 */
const { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http2');

const strings = (...names) => Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
const resource = (...names) => ({
  properties: strings(...names),
  inputProperties: strings(...names),
  requiredInputs: names,
});
const schema = {
  name: 'world',
  version: '1.0.0',
  resources: {
    'world:index:File': resource('path', 'content'),
    'world:index:Wait': resource('path'),
    'world:index:Freeze': resource('path'),
  },
};

let interrupt;
const interrupted = new Promise((resolve) => {
  interrupt = resolve;
});

function write({ path, content }) {
  writeFileSync(path, content);
}

async function create(type, inputs) {
  if (type === 'world:index:File') write(inputs);
  else {
    if (type === 'world:index:Freeze') process.kill(process.ppid, 'SIGSTOP');
    const pipe = openSync(inputs.path, 'w');
    writeFileSync(pipe, 'began\n');
    closeSync(pipe);
    await interrupted;
  }
}

/** By method: takes the fields of the request, gives those of the response, by number. */
const methods = {
  GetPluginInfo: () => ({ 1: text(schema.version) }),
  GetSchema: () => ({ 1: text(JSON.stringify(schema)) }),
  CheckConfig: (request) => ({ 1: request[3] }),
  DiffConfig: () => ({ 4: 1 }),
  Configure: () => ({ 2: 1 }),
  Check: (request) => ({ 1: request[3] }),
  Diff: (request) => {
    const [olds, news] = [request[3], request[4]].map(structOf);
    const changed = Object.keys(news).filter((name) => news[name] !== olds[name]);
    return { 1: changed.filter((name) => name === 'path').map(text), 4: changed.length > 0 ? 2 : 1 };
  },
  Create: async (request) => {
    const inputs = structOf(request[2]);
    const isPreview = request[4]?.[0] === 1;
    if (!isPreview) await create(typeOf(request[1]), inputs);
    return { 1: text(isPreview ? '' : inputs.path), 2: request[2] };
  },
  Read: (request) => {
    const old = structOf(request[3]);
    if (typeOf(request[2]) === 'world:index:Wait') return { 1: request[1], 2: request[3], 3: request[4] };
    if (!existsSync(old.path)) return {};
    const now = struct({ ...old, content: readFileSync(old.path, 'utf8') });
    return { 1: request[1], 2: now, 3: now };
  },
  Update: (request) => {
    if (request[7]?.[0] !== 1) write(structOf(request[4]));
    return { 1: request[4] };
  },
  Delete: (request) => {
    rmSync(structOf(request[3]).path, { force: true });
    return {};
  },
  Cancel: () => {
    interrupt();
    return {};
  },
};

/** `urn:pulumi:stack::project::type::name`; a child's type follows those of its parents after a `$`. */
const typeOf = ([urn]) => String(urn).split('::')[2].split('$').at(-1);

// --- protocol buffers: a message is its fields by number, each a list of numbers and byte strings ---

const text = (value) => Buffer.from(value);

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return Buffer.from([...bytes, value]);
}

function encode(message) {
  const fields = Object.entries(message).flatMap(([number, values]) =>
    (Array.isArray(values) ? values : [values]).map((value) =>
      typeof value === 'number'
        ? Buffer.concat([varint(number * 8), varint(value)])
        : Buffer.concat([varint(number * 8 + 2), varint(value.length), value]),
    ),
  );
  return Buffer.concat(fields);
}

function decode(bytes) {
  const message = {};
  let at = 0;
  const readVarint = () => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = readVarint();
    const [number, wire] = [Math.floor(key / 8), key % 8];
    // 0: a number; 1: eight bytes; 5: four bytes; 2: so many bytes.
    const length = { 1: 8, 5: 4 }[wire] ?? readVarint();
    const isNumber = wire === 0;
    message[number] = [...(message[number] ?? []), isNumber ? length : bytes.subarray(at, at + length)];
    if (!isNumber) at += length;
  }
  return message;
}

/** google.protobuf.Struct, of which only the strings count: `{1: [{1: name, 2: {3: value}}]}`. */
function structOf([bytes = Buffer.alloc(0)] = []) {
  const entries = (decode(bytes)[1] ?? []).map((entry) => decode(entry));
  return Object.fromEntries(
    entries.map(({ 1: [name], 2: [value] }) => [String(name), String(decode(value)[3]?.[0] ?? '')]),
  );
}

const struct = (object) =>
  encode({
    1: Object.entries(object).map(([name, value]) =>
      encode({ 1: text(name), 2: encode({ 3: text(value) }) }),
    ),
  });

// --- gRPC ---

async function answer(stream, name, request) {
  let body = null;
  let trailers = { 'grpc-status': '12' };
  try {
    const method = methods[name];
    if (method) {
      const message = encode(await method(decode(request)));
      const head = Buffer.alloc(5);
      head.writeUInt32BE(message.length, 1);
      body = Buffer.concat([head, message]);
      trailers = { 'grpc-status': '0' };
    }
  } catch (error) {
    trailers = { 'grpc-status': '2', 'grpc-message': encodeURIComponent(error.message) };
  }
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(body ?? undefined);
}

const server = createServer();
server.on('stream', (stream, headers) => {
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  stream.on('end', () =>
    answer(stream, headers[':path'].split('/').at(-1), Buffer.concat(chunks).subarray(5)),
  );
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
