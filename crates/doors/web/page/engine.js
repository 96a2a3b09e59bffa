// Starts the compiled program, in a worker of the page or in Node. `hear` is told what goes on: a message and the bytes with it.
async function start(code, hear) {
  let own;
  const bytes = (at, length) => new Uint8Array(own.memory.buffer, at >>> 0, length);
  const tell = (at, length, content, size) =>
    hear(JSON.parse(new TextDecoder().decode(bytes(at, length))), bytes(content, size).slice());
  const page = { tell, seconds: () => Date.now() / 1000 };
  // A crate of archives has functions for random numbers, which nothing calls.
  const absent = new Proxy({}, { get: () => () => { throw new Error('this is not there'); } });
  const imports = new Proxy({ page }, { get: (known, name) => known[name] ?? absent });
  own = (await WebAssembly.instantiate(code, imports)).instance.exports;
  const given = (content) => {
    const at = own.room(content.length);
    bytes(at, content.length).set(content);
    return [at, content.length];
  };
  const text = (value) => given(new TextEncoder().encode(value));
  own.begin();
  return {
    put: (name, content) => own.put(...text(name), ...given(content)),
    ask: (request) => own.ask(...text(JSON.stringify(request))),
  };
}
