// One question a worker: who cancels ends it, and its memory with it.
onmessage = async ({ data: { code, files, request } }) => {
  let last = 0;
  let said = false;
  const hear = (message, content) => {
    const now = Date.now();
    if (message.is === 'progress' && message.done > 0 && now - last < 50) return;
    last = now;
    said ||= message.is === 'error' || message.is === 'answer';
    postMessage({ message, content });
  };
  try {
    const engine = await start(code, hear);
    for (const { name, content } of files) engine.put(name, content);
    engine.ask(request);
  } catch (error) {
    // What trapped without a word was refused memory.
    const text = error instanceof WebAssembly.RuntimeError || error instanceof RangeError
      ? 'this needs more memory than a browser gives a page; use the command line for it' : String(error);
    if (!said) hear({ is: 'error', text }, new Uint8Array());
  }
};
