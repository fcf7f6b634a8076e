// The decks as PDF, by the system's Chromium: pdf.mjs [NAME...]
import {existsSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';
import {buildDecks, giveUp} from './build.mjs';
import {output} from './paths.mjs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM ?? places.find(existsSync);
if (!executablePath) {
  console.error('slides: there is no Chromium (./distlab setup --slides installs it)');
  process.exit(3);
}
const built = await buildDecks(process.argv.slice(2)).catch(giveUp);
const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking']});
for (const {page: name} of built) {
  const page = await browser.newPage({viewport: {width: 1280, height: 720}});
  await page.goto(`${pathToFileURL(path.join(output, name)).href}?print-pdf`);
  await page.waitForFunction(() => document.querySelector('.pdf-page'));
  const file = name.replace(/html$/, 'pdf');
  await page.pdf({path: path.join(output, file), preferCSSPageSize: true, printBackground: true});
  console.log(`build/slides/${file}`);
  await page.close();
}
await browser.close();
