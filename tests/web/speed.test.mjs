// 64 ranks: how soon the page is there, and how smoothly it moves.
import assert from 'node:assert/strict';
import {availableParallelism, loadavg} from 'node:os';
import {before, test} from 'node:test';
import {open, pageOf, useBrowser} from './browser.mjs';

const use = useBrowser();
let url;
before(() => { url = pageOf(use.folder, 'ring64', 'all_reduce', '-a', 'ring', '-n', '64', '-b', '1MiB'); });

// What else runs on the machine can only make it slower: the best of a few tries is what the page can do.
async function best(tries, measure, isGood) {
  let found;
  for (let i = 0; i < tries && (found === undefined || !isGood(found)); ++i) {
    const {page, close} = await open(use, url);
    const measured = await measure(page);
    if (found === undefined || isGood(measured)) found = measured;
    await close();
  }
  return found;
}

// From the start of the navigation until a frame has been painted, in ms.
const painted = page => page.evaluate(() => new Promise(resolve =>
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))));

// That frame has all ranks in it.
const opening = async page => {
  const ms = await painted(page);
  assert.equal(await page.locator('distlab-player').locator('.rank').count(), 64);
  return ms;
};

const framesOf = page => page.evaluate(() => new Promise(resolve => {
  const begin = performance.now();
  let frames = 0;
  const count = now => {
    ++frames;
    if (now - begin < 3000) requestAnimationFrame(count);
    else resolve((1000 * frames) / (now - begin));
  };
  requestAnimationFrame(count);
}));

const playing = async page => {
  await page.keyboard.press(' ');
  const rate = await framesOf(page);
  assert.ok(await page.evaluate(() => document.querySelector('distlab-player').time) > 0, 'it plays');
  return rate;
};

// Why a figure that is not good enough says nothing; undefined where it does.
function busy(figure) {
  const [load] = loadavg(), cores = availableParallelism();
  return load > 3 * cores ? `${figure}, but ${cores} cores have ${load.toFixed(0)} programs to run` : undefined;
}

// The same of the time to open: a page with nothing in it is the measure of the machine. Where the median of those is
// 80 ms at most the page has its second; nowhere may it take longer than 15 of them.
async function slow(figure, ms) {
  const times = [];
  for (let i = 0; i < 5; ++i) {
    const {page, close} = await open(use, 'data:text/html,<p>nothing');
    times.push(await painted(page));
    await close();
  }
  const empty = times.sort((a, b) => a - b)[2], is = `an empty page takes ${empty.toFixed(0)} ms here`;
  console.log(is);
  return empty > 80 && ms <= 15 * empty ? `${figure}, but ${is}` : undefined;
}

test('a ring of 64 ranks opens within a second', async t => {
  const ms = await best(4, opening, found => found <= 1000), figure = `opened after ${ms.toFixed(0)} ms`;
  console.log(figure);
  const excuse = ms <= 1000 ? undefined : busy(figure) ?? await slow(figure, ms);
  if (excuse) return t.skip(excuse);
  assert.ok(ms <= 1000, figure);
});

test('and shows at least 50 frames a second', async t => {
  const rate = await best(4, playing, found => found >= 50), figure = `${rate.toFixed(1)} frames a second`;
  console.log(figure);
  if (rate < 50 && busy(figure)) return t.skip(busy(figure));
  assert.ok(rate >= 50, figure);
});
