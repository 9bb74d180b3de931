// What Terca has compressed into the page: gzip as base64, in an inert element.

/**
 * @param {HTMLTemplateElement} element
 * @returns {Promise<Uint8Array>}
 */
async function unpacked(element) {
  const text = atob(element.content.textContent);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

const canUnpack = typeof DecompressionStream === 'function';
const asText = (bytes) => new TextDecoder().decode(bytes);
