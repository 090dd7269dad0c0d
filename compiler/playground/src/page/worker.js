let instance = null;

async function answer(request) {
  const closc = (await instance).exports;
  // The memory has another buffer after it has grown, so the buffer is read after each call.
  const view = (length) => {
    const start = closc.closc_buffer(length);
    return new Uint8Array(closc.memory.buffer, start, length);
  };
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  view(bytes.length).set(bytes);
  return JSON.parse(new TextDecoder().decode(view(closc.closc_answer())));
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
