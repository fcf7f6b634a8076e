// Opens Perfetto in a new window and hands it the trace when it says that it is ready; nothing is uploaded.

const perfetto = 'https://ui.perfetto.dev';

export function openInPerfetto(title: string, json: string) {
  const viewer = navigator.onLine ? window.open(perfetto) : null;
  if (!viewer) return keepAsFile(title, json); // no network, or a blocked window
  // To any page, as the window shows none at first. The trace itself is for Perfetto only.
  const asking = setInterval(() => viewer.postMessage('PING', '*'), 200);
  const stop = () => {
    clearInterval(asking);
    window.removeEventListener('message', answered);
  };
  const answered = (event: MessageEvent) => {
    if (event.source !== viewer || event.data !== 'PONG') return;
    stop();
    viewer.postMessage({perfetto: {buffer: new TextEncoder().encode(json).buffer, title}}, perfetto);
  };
  window.addEventListener('message', answered);
  setTimeout(stop, 60_000);
}

export function keepAsFile(title: string, json: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([json], {type: 'application/json'}));
  link.download = `${title.replace(/[^\w]+/g, '_') || 'trace'}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}
