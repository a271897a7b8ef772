/** Of one policy; what is left out is counted. */
const maxMessages = 200;
const maxBytes = 2048;

/** Messages as people are shown them: cut to 2 KB each, and to 200. */
export function shownMessages(messages: readonly string[]): readonly string[] {
  const shown = messages.slice(0, maxMessages).map(shortened);
  const left = messages.length - shown.length;
  return left === 0 ? shown : [...shown, `and ${left} more`];
}

function shortened(message: string): string {
  if (message.trim() === '') return '(no message)';
  const bytes = Buffer.from(message);
  if (bytes.length <= maxBytes) return message;
  const ellipsis = '…';
  // A character that is cut in two would become a replacement character: take it away whole.
  let end = maxBytes - Buffer.byteLength(ellipsis);
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + ellipsis;
}
