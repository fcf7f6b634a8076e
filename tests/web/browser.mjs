// Chromium for a test file, and pages with the player in it.
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {after, before} from 'node:test';

const require = createRequire(new URL('../../slides/package.json', import.meta.url));
export const axePath = require.resolve('axe-core/axe.min.js');
const {chromium} = require('playwright-core');

const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
               '--disable-component-update', '--disable-sync'];

// One browser for the tests of a file, and a folder for what they write.
export function useBrowser() {
  const use = {browser: null, folder: ''};
  before(async () => {
    use.folder = mkdtempSync(path.join(tmpdir(), 'distlab-web-'));
    use.browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: quiet});
  });
  after(async () => {
    await use.browser?.close();
    rmSync(use.folder, {recursive: true, force: true});
  });
  return use;
}

export function distlab(...words) {
  return execFileSync(process.env.DISTLAB_PROGRAM, words, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
}

// The page that `distlab trace --html` writes of a simulated collective: its URL.
export function pageOf(folder, name, ...collective) {
  const trace = path.join(folder, `${name}.json`), page = path.join(folder, `${name}.html`);
  distlab('sim', ...collective, '--trace', trace);
  distlab('trace', trace, '--html', page);
  return pathToFileURL(page).href;
}

// An open page, and everything it complained about. Whatever asks for a network is a complaint.
export async function open(use, url, options = {}) {
  const context = await use.browser.newContext({viewport: {width: 1600, height: 900}, ...options});
  const page = await context.newPage();
  const complaints = [];
  page.on('console', message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(error.message));
  page.on('request', request => /^(file|data|blob):/.test(request.url()) || complaints.push(`asks for ${request.url()}`));
  await page.goto(url);
  return {page, complaints, close: () => context.close()};
}
