// @ts-check
/**
 * Server-sent events of the API, for as long as the page is looked at: a hidden page holds no connection, of which a
 * browser has few for one server. What was missed comes when it is looked at again.
 *
 * @param {object} options
 * @param {string} options.url Takes `after`: the id of the last event that was seen.
 * @param {string} options.after
 * @param {Record<string, (data: any) => void>} options.on By event; after `end` it is over for good.
 * @param {() => void} [options.onRefused] The server answers, and not with events; it is asked again later.
 */
export function followEvents({ url, after, on, onRefused }) {
  let lastId = after;
  let isOver = false;
  let pauseMs = 2000;
  /** @type {EventSource | null} */
  let source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function open() {
    if (isOver || source || document.hidden) return;
    const opened = new EventSource(`${url}?after=${encodeURIComponent(lastId)}`);
    source = opened;
    opened.addEventListener('open', () => {
      pauseMs = 2000;
    });
    for (const [name, handle] of Object.entries(on)) {
      opened.addEventListener(name, (event) => {
        if (event.lastEventId !== '') lastId = event.lastEventId;
        if (name === 'end') stop();
        handle(JSON.parse(event.data));
      });
    }
    opened.addEventListener('error', () => {
      // A lost connection is opened again by the browser; a refusal is not.
      if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
      close();
      onRefused?.();
      timer = setTimeout(open, pauseMs);
      pauseMs = Math.min(pauseMs * 2, 60_000);
    });
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  function stop() {
    isOver = true;
    close();
    document.removeEventListener('visibilitychange', look);
  }

  function look() {
    if (document.hidden) close();
    else open();
  }

  document.addEventListener('visibilitychange', look);
  open();
}
