/** What programs ask for, whatever they say that they accept. */
const programs = /^\/(?:api|assets|healthz|readyz|metrics)(?:\/|$)/;

/** Whether a person waits for the answer: a browser goes there, by a link or by sending a form. */
export function wantsPage({ method, url, headers }: Pick<Request, 'method' | 'url' | 'headers'>): boolean {
  if (programs.test(new URL(url).pathname)) return false;
  // Scripts of pages accept anything.
  return ['GET', 'HEAD', 'POST'].includes(method) && (headers.get('accept') ?? '').includes('text/html');
}
