export interface ServerSentEvent {
  /** Of this event or the last one that had one. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** The events of a `text/event-stream` answer; comments and half an event at the end are dropped. */
export async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let id = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const values = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trimStart());
      id = values('id').at(-1) ?? id;
      const data = values('data');
      if (data.length > 0) yield { id, event: values('event').at(-1) ?? 'message', data: data.join('\n') };
    }
  }
}
