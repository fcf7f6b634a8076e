// Serves decks on this machine alone, and rebuilds and reloads them when a source changes: serve.mjs [PORT
// [NAME...]]. If decks are named, the first one opens; otherwise the table of all decks does.
import {readFileSync, watch} from 'node:fs';
import {createServer} from 'node:http';
import path from 'node:path';
import {buildDecks, giveUp} from './build.mjs';
import {output, slides} from './paths.mjs';

const port = Number(process.argv[2] ?? 8123), names = process.argv.slice(3);
let home = 'index.html';
const reload = '<script>new EventSource("/changes").onmessage = () => location.reload();</script>';
/** @type {Set<import('node:http').ServerResponse>} */
const watching = new Set();

async function build() {
  const [first] = await buildDecks(names);
  if (first && names.length > 0) home = first.page;
}

async function rebuild() {
  try {
    await build();
    for (const response of watching) response.write('data: changed\n\n');
  } catch (error) {
    console.error(`slides: ${error instanceof Error ? error.message : error}`);
  }
}

const server = createServer((request, response) => {
  const {pathname} = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/changes') {
    response.writeHead(200, {'content-type': 'text/event-stream', 'cache-control': 'no-store'});
    watching.add(response);
    request.on('close', () => watching.delete(response));
    return;
  }
  const name = pathname === '/' ? home : pathname.slice(1);
  if (!/^[\w.-]+\.html$/.test(name)) return void response.writeHead(404).end('there is no such page');
  try {
    response.writeHead(200, {'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store'});
    response.end(readFileSync(path.join(output, name), 'utf8') + reload);
  } catch {
    response.end('there is no such page');
  }
});

await build().catch(giveUp);
let waiting = /** @type {NodeJS.Timeout | undefined} */ (undefined);
watch(slides, {recursive: true}, (_, file) => {
  if (!file || file.includes('node_modules')) return;
  clearTimeout(waiting);
  waiting = setTimeout(rebuild, 200);
});
server.on('error', error => {
  console.error(`slides: cannot listen on port ${port} (${error.message}); another one: ./distlab slides --port 8124`);
  process.exit(1);
});
server.listen(port, '127.0.0.1', () => console.log(`http://localhost:${port} has the slides; Ctrl-C ends this`));
