(function (native, kit) {
  const { ArrayBuffer, JSON, Array, TypeError } = globalThis;

  const isBlock = (v) => v !== null && typeof v === "object" && (
    (v.type === "image" || v.type === "audio") && typeof v.data === "string" ||
    v.type === "resource" && v.resource !== null && typeof v.resource === "object" && (typeof v.resource.text === "string" || typeof v.resource.blob === "string"));

  function ofBlock(block) {
    if (block.type !== "resource") return { base64: block.data, mime: block.mimeType };
    const { text, blob, mimeType } = block.resource;
    return typeof blob === "string" ? { base64: blob, mime: mimeType } : { text, mime: mimeType ?? "text/plain" };
  }

  // what says what is to be kept of a value.
  async function what(data) {
    if (typeof data === "string") return { text: data };
    if (data === null || typeof data !== "object") throw kit.invalidType("data", "of type string, an instance of ArrayBuffer, ArrayBufferView or Blob, or an object", data);
    if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) return { bytes: data };
    if (typeof data.arrayBuffer === "function" && typeof data.size === "number") return { bytes: await data.arrayBuffer(), mime: data.type };
    if (isBlock(data)) return ofBlock(data);
    const keys = globalThis.Object.keys(data);
    if (typeof data.path === "string" && keys.every((k) => k === "path" || k === "mime")) return { path: data.path, mime: data.mime };
    if (Array.isArray(data.content)) {
      const blocks = data.content.filter(isBlock);
      if (blocks.length === 1) return ofBlock(blocks[0]);
      if (blocks.length > 1) throw new TypeError(`the answer holds ${blocks.length} blocks that could be kept: give one of its content`);
    }
    const text = JSON.stringify(data, undefined, 2);
    if (text === undefined) throw new TypeError("the data is nothing that JSON has");
    return { text: text + "\n", mime: "application/json" };
  }

  async function artifact(name, data) {
    if (typeof name !== "string") throw kit.invalidType("name", "of type string", name);
    const { text, bytes, base64, path, mime } = await what(data);
    return await native.keep(name, typeof mime === "string" ? mime : "", path, text, bytes, base64);
  }

  return { artifact };
})
