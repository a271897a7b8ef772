/**
 * Markdown of at most `limit` characters, with nothing left open that would take in what stands below it: code blocks
 * and `<details>` are closed. What is too long is cut at the end of a line and ends in `ending`. Pure.
 */
export function cutMarkdown(text: string, limit: number, ending: string): string {
  const lines = text.split(/\r\n?|\n/);
  const whole = readTo(lines, Number.POSITIVE_INFINITY, '');
  if (whole.length <= limit) return whole.text();
  return readTo(lines, limit, `\n\n${ending}`).text();
}

/** As many of the lines as fit, `ending` included. */
function readTo(lines: readonly string[], limit: number, ending: string) {
  let open = nothingOpen;
  let count = 0;
  let [length, end] = [ending.length, ending];
  let read = 0;
  for (const line of lines) {
    read += line.length + (count === 0 ? 0 : 1);
    open = after(open, line);
    const nextEnd = closed(open) + ending;
    if (read + nextEnd.length > limit) break;
    count += 1;
    [length, end] = [read + nextEnd.length, nextEnd];
  }
  return {
    length,
    text() {
      const kept = lines.slice(0, count).join('\n');
      return ending === '' ? kept + end : (kept.trimEnd() + end).trimStart();
    },
  };
}

interface Open {
  /** The fence of the code block that it is in. */
  readonly fence: string | null;
  readonly details: number;
}

const nothingOpen: Open = { fence: null, details: 0 };

function after({ fence, details }: Open, line: string): Open {
  if (fence !== null) return { fence: ends(fence, line) ? null : fence, details };
  // After backticks more of them on the line make it code inside a line.
  const begun = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line);
  if (begun) return { fence: begun[1] ?? begun[2] ?? null, details };
  const more = (line.match(/<details\b/gi) ?? []).length - (line.match(/<\/details>/gi) ?? []).length;
  return { fence, details: Math.max(details + more, 0) };
}

function ends(fence: string, line: string): boolean {
  const mark = /^ {0,3}(`+|~+)[ \t]*$/.exec(line)?.[1];
  return mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length;
}

const closed = ({ fence, details }: Open): string =>
  (fence === null ? '' : `\n${fence}`) + '\n\n</details>'.repeat(details);
