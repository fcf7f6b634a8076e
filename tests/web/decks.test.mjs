// Every deck as it is shown: offline, nothing said to the console, every slide in its frame, every player with its trace.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {createServer} from 'node:net';
import path from 'node:path';
import {before, describe, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {axePath, distlab, open, useBrowser} from './browser.mjs';

const slides = fileURLToPath(new URL('../../slides', import.meta.url));
const output = path.join(slides, '../build/slides'), grading = path.join(slides, '../tests/grading');
const use = useBrowser();
const decks = readdirSync(slides).filter(name => existsSync(path.join(slides, name, 'slides.md'))).sort();

before(() => { distlab('slides', '--build'); });

const url = name => pathToFileURL(path.join(output, `${name}.html`)).href;
const settled = page => page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));

// reveal.js writes the slide before into the address, at times up to a second late: so the slide is asked for until it is there.
const goTo = (page, slide) => page.waitForFunction(wanted => {
  const isThere = document.querySelectorAll('.slides > section')[wanted].classList.contains('present');
  if (!isThere) location.hash = `#/${wanted}`;
  return isThere;
}, slide);

// What grades a lab, by its number.
function gradingOf(lab) {
  const folder = path.join(grading, readdirSync(grading).find(name => name.startsWith(`${lab}_`)));
  const files = readdirSync(folder).filter(name => name !== 'wrong_answers.cpp');
  return files.map(name => readFileSync(path.join(folder, name), 'utf8')).join('\n');
}

// Also what comes with a further key: at once, without fading in.
const showAll = async page => {
  await page.evaluate(() => document.querySelectorAll('section.present .fragment').forEach(part => {
    part.style.transition = 'none';
    part.classList.add('visible');
  }));
  await settled(page);
};

// What is wrong with the slide that is shown.
const faultsOf = page => page.evaluate(() => {
  const slide = document.querySelector('section.present'), frame = slide.getBoundingClientRect(), faults = [];
  if (slide.scrollHeight > slide.clientHeight) faults.push(`${slide.scrollHeight - slide.clientHeight} pixels too high`);
  if (slide.scrollWidth > slide.clientWidth) faults.push(`${slide.scrollWidth - slide.clientWidth} pixels too wide`);
  for (const element of slide.querySelectorAll(':scope > *:not(aside), pre, table, figure, distlab-player, .fragment')) {
    const box = element.getBoundingClientRect();
    if (box.right > frame.right + 1 || box.bottom > frame.bottom + 1 || box.left < frame.left - 1) faults.push(`${element.tagName} leaves the frame`);
    if (element.tagName === 'PRE' && element.scrollWidth > element.clientWidth + 1) faults.push('code is cut off');
  }
  for (const player of slide.querySelectorAll('distlab-player')) {
    if (!player.shadowRoot?.querySelector('.rank')) faults.push('a player shows no rank');
  }
  for (const image of slide.querySelectorAll('img')) {
    if (!(image.naturalWidth > 0)) faults.push('a picture is missing');
  }
  return faults;
});

describe('decks', () => {
  const inChinese = decks.filter(name => existsSync(path.join(slides, name, 'slides.zh-CN.md'))).map(name => `${name}.zh-CN`);
  for (const name of [...decks, ...inChinese]) {
    test(`${name} fits, and says nothing`, async () => {
      const {page, complaints, close} = await open(use, url(name), {viewport: {width: 1280, height: 720}});
      await page.waitForSelector('.reveal.ready');
      const count = await page.locator('.slides > section').count();
      const faults = [];
      for (let i = 0; i < count; ++i) {
        await goTo(page, i);
        await showAll(page);
        faults.push(...(await faultsOf(page)).map(fault => `slide ${i + 1}: ${fault}`));
      }
      await close();
      assert.deepEqual([...faults, ...complaints], []);
    });
  }

  for (const name of decks) {
    test(`${name} has notes for the speaker with minutes on every slide but the title`, () => {
      const parts = readFileSync(path.join(slides, name, 'slides.md'), 'utf8').split(/^---$/m);
      const silent = parts.flatMap((part, i) => /^Note:\n[^]*\d+ min/m.test(part) ? [] : [i + 1]);
      assert.deepEqual(silent.filter(slide => slide > 1), []);
    });

    test(`${name} names files and tests that there are`, () => {
      const text = readFileSync(path.join(slides, name, 'slides.md'), 'utf8');
      const files = text.match(/\b(tests|labs|solutions|slides|lib)\/[\w/-]+\.\w+/g) ?? [];
      assert.deepEqual(files.filter(file => !existsSync(path.join(slides, '..', file))), []);
      const asked = [...text.matchAll(/trace (\d+) --test (\w+)/g)].map(([, lab, asks]) => [lab.padStart(2, '0'), asks]);
      assert.deepEqual(asked.filter(([lab, asks]) => !gradingOf(lab).includes(`, ${asks})`)), []);
    });
  }

  test('keys belong to the player once it is clicked, and to the slides before', async () => {
    const {page, close} = await open(use, `${url('05_broadcast')}#/2`, {viewport: {width: 1280, height: 720}});
    const player = page.locator('section.present distlab-player');
    await player.locator('.stage').click();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.querySelector('section.present distlab-player').time > 0);
    assert.match(page.url(), /#\/2$/);
    await page.locator('section.present h2').click();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/#\/3$/);
    await close();
  });

  test('a deck that is asked for is what opens', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const {port} = free.address();
    await new Promise(closed => free.close(closed));
    const server = spawn(process.env.DISTLAB_PROGRAM, ['slides', '--port', `${port}`, '05'], {detached: true, stdio: ['ignore', 'pipe', 'inherit']});
    try {
      const [said] = await once(server.stdout, 'data');
      assert.equal(`${said}`, `http://localhost:${port} has the slides; Ctrl-C ends this\n`);
      assert.match(await (await fetch(`http://127.0.0.1:${port}/`)).text(), /<title>05 · /);
      assert.match(await (await fetch(`http://127.0.0.1:${port}/06_scatter_gather.html`)).text(), /<title>06 · /); // built before
    } finally {
      process.kill(-server.pid);
    }
  });

  for (const colorScheme of ['light', 'dark']) {
    // It has all there is: formulas, tables, code, printed text, a player, plots, a quiz.
    test(`no slide of a deck has a serious finding of axe, ${colorScheme}`, async () => {
      const {page, close} = await open(use, url('12_choose_an_algorithm'), {colorScheme, viewport: {width: 1280, height: 720}});
      await page.waitForSelector('.reveal.ready');
      await page.evaluate(readFileSync(axePath, 'utf8'));
      const count = await page.locator('.slides > section').count(), told = [];
      for (let i = 0; i < count; ++i) {
        await goTo(page, i);
        await showAll(page);
        const {violations} = await page.evaluate(() => window.axe.run());
        told.push(...violations.map(({id, impact, nodes}) => `${impact}: slide ${i + 1}: ${id}: ${nodes.map(node => node.html.slice(0, 120)).join(' | ')}`));
      }
      await close();
      assert.deepEqual(told.filter(text => /^(serious|critical)/.test(text)), []);
    });
  }
});
