let instance = null;

async function answer(request) {
  const closc = (await instance).exports;
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  new Uint8Array(closc.memory.buffer, closc.closc_buffer(bytes.length), bytes.length).set(bytes);
  const length = closc.closc_answer();
  // The memory may have grown, and then its buffer is another one.
  const found = new Uint8Array(closc.memory.buffer, closc.closc_buffer(length), length);
  return JSON.parse(new TextDecoder().decode(found));
}

onmessage = async ({ data: { module, id, request } }) => {
  if (module) {
    instance = WebAssembly.instantiate(module, {});
    return;
  }
  try {
    postMessage({ id, answer: await answer(request) });
  } catch (error) {
    postMessage({ id, error: String(error) });
  }
};
