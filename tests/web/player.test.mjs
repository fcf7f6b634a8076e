// The player as a person uses it: the page of a real trace, in a browser.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {beforeEach, describe, test, afterEach, before} from 'node:test';
import {axePath, open, pageOf, useBrowser} from './browser.mjs';

const use = useBrowser();
const urls = {};
before(() => {
  urls.ring = pageOf(use.folder, 'ring', 'all_reduce', '-a', 'ring', '-n', '4', '-b', '64KiB');
  urls.tree = pageOf(use.folder, 'tree', 'broadcast', '-a', 'binomial', '-n', '8', '-b', '4KiB');
  urls.double = pageOf(use.folder, 'double', 'all_reduce', '-a', 'double_binary_tree', '-n', '8', '-b', '64KiB');
  urls.groups = pageOf(use.folder, 'groups', 'all_reduce', '-a', 'hierarchical', '-n', '16', '-b', '64KiB', '-t', 'dgx-a100-hdr');
  urls.chain = pageOf(use.folder, 'chain', 'broadcast', '-a', 'chain', '-n', '5', '-b', '4KiB');
});

// What a test asks of the player in the page.
class Player {
  constructor(page) {
    this.page = page;
    this.element = page.locator('distlab-player');
  }
  time() { return this.element.evaluate(player => player.time); }
  playing() { return this.element.evaluate(player => player.playing); }
  button(name) { return this.element.getByRole('button', {name, exact: true}); }
  sums() { return this.element.locator('.ranks .sign').count(); }
  flying() { return this.element.locator('.messages .message').count(); }
  stopped() { return this.page.waitForFunction(() => !document.querySelector('distlab-player').playing); }
  announced() { return this.element.locator('.live').textContent(); }
}

describe('the player', () => {
  let opened, player;
  const show = async (url, options) => {
    await opened?.close();
    opened = await open(use, url, options);
    player = new Player(opened.page);
    return player;
  };
  beforeEach(() => show(urls.ring));
  afterEach(async () => {
    const {complaints} = opened;
    await opened.close();
    opened = undefined;
    assert.deepEqual(complaints, []);
  });

  test('is named after its trace', async () => {
    assert.match(await opened.page.title(), /all_reduce by ring, 4 ranks/);
  });

  test('plays and pauses by its button', async () => {
    await player.button('Play').click();
    await opened.page.waitForFunction(() => document.querySelector('distlab-player').time > 1e6);
    assert.ok(await player.flying() > 0 || await player.time() > 2.6e6);
    await player.button('Pause').click();
    const time = await player.time();
    await opened.page.waitForTimeout(150);
    assert.equal(await player.time(), time);
  });

  test('plays to the end, where all sums are complete, and begins again', async () => {
    await player.element.getByLabel('speed').selectOption('8');
    assert.equal(await player.sums(), 0);
    await opened.page.keyboard.press(' ');
    await player.stopped();
    assert.equal(await player.sums(), 16);
    assert.match(await player.announced(), /ranks 0 to 3 have the complete sum/);
    await opened.page.keyboard.press(' ');
    assert.ok(await player.time() < 18e6);
  });

  test('steps from one moment to the next, and back', async () => {
    await opened.page.keyboard.press('ArrowRight');
    await player.stopped();
    const first = await player.time();
    assert.match(await player.announced(), /Rank 0 has reached rank 1: chunk 3, with the part of rank 0/);
    await player.button('One step on').click();
    await player.stopped();
    assert.ok(await player.time() > first);
    await opened.page.keyboard.press('ArrowLeft');
    assert.equal(await player.time(), first);
    await player.button('One step back').click();
    assert.equal(await player.time(), 0);
  });

  test('goes to the end and the beginning by keys', async () => {
    await opened.page.keyboard.press('End');
    assert.equal(await player.sums(), 16);
    await opened.page.keyboard.press('Home');
    assert.equal(await player.sums(), 0);
  });

  test('scrubs, by the slider and by a click on the lanes', async () => {
    await player.element.getByLabel('Time').fill('600');
    assert.equal(await player.sums(), 4);
    const box = await player.element.locator('.lanes').boundingBox();
    await opened.page.mouse.click(box.x + box.width * 0.5, box.y + 20);
    assert.ok(Math.abs(await player.time() / 18721695 - 0.49) < 0.03);
  });

  test('explains what is under the pointer', async () => {
    await player.element.getByLabel('Time').fill('50');
    await player.element.locator('.message').first().hover();
    const tip = await player.element.locator('.tip').innerText();
    assert.match(tip, /rank \d → rank \d: 16 KiB/);
    assert.match(tip, /with the part of rank \d/);
    assert.match(tip, /all_reduce by ring/);
    await player.element.locator('[data-rank="1"] [data-cell="1"]').hover();
    assert.match(await player.element.locator('.tip').innerText(), /rank 1, chunk 1: the part of rank 1: 1 of 4/);
  });

  test('asks before it goes on, by keyboard, and says what is right', async () => {
    await opened.page.keyboard.press('p');
    const question = player.element.getByRole('group', {name: 'Question'});
    await question.waitFor();
    assert.equal(await player.time(), 0);
    assert.equal(await player.flying(), 0, 'what is asked for is not shown');
    const asked = /which chunk does rank (\d) send next/i.exec(await question.innerText());
    const right = (Number(asked[1]) + 3) % 4; // in step 0 rank r sends chunk r - 1
    await opened.page.keyboard.press(`${right + 1}`);
    assert.match(await question.getByRole('status').textContent(), /^Yes\. Rank \d sends rank \d chunk \d.* 1 of 1 right/);
    await question.waitFor({state: 'hidden'});
    await question.waitFor();
    assert.equal(await player.flying(), 0);
    assert.ok(await player.time() > 3e6, 'the next question comes before the next messages');
    const next = Number(/rank (\d) send/.exec(await question.innerText())[1]);
    await question.getByRole('button').nth((next + 3) % 4).click(); // what was right in the step before
    assert.match(await question.getByRole('status').textContent(), /^No\..* 1 of 2 right/);
  });

  test('switches views, and chooses the one that suits', async () => {
    const view = () => player.element.getByLabel('view').inputValue();
    assert.equal(await view(), 'ring');
    await opened.page.keyboard.press('v');
    assert.equal(await view(), 'groups');
    for (const [url, suits] of [['tree', 'tree'], ['double', 'double tree'], ['groups', 'groups'], ['chain', 'line']]) {
      await show(urls[url]);
      assert.equal(await view(), suits);
    }
    assert.equal(await player.element.locator('.rank').count(), 5);
  });

  test('shows at the end of a deadlock which rank waits for which', async () => {
    const party = (rank, other) => ({rank, doing: 'send #0 (4 f32)', where: 'train.cpp:41', waits_for: [other]});
    const send = rank => ({rank, begin: 0, end: 18e14, name: 'send', algorithm: '', where: 'train.cpp:41', bytes: 16,
                           in_shared_memory: false, group: 0, sequence: 0, ending: 'failed'});
    const trace = {format: 'distlab player 2', title: 'swap', ranks: 3, ranks_per_node: 0, virtual_time: true, duration: 18e14,
                   calls: [send(0), send(2)], messages: [], reductions: [], waits: [], computes: [],
                   findings: [{code: 'D1', title: 'deadlock', what: '2 ranks wait for each other', mend: 'let one receive first',
                               parties: [party(0, 2), party(2, 0)]}]};
    await player.element.evaluate((element, json) => element.load(json), JSON.stringify(trace));
    const told = await player.element.locator('.finding').innerText();
    assert.match(told, /D1 deadlock/);
    assert.match(told, /rank 0: send #0 \(4 f32\) at train.cpp:41, waits for rank 2/);
    await opened.page.keyboard.press('End');
    const arrows = await player.element.locator('.waits.shown [data-waits]').evaluateAll(all => all.map(arrow => arrow.dataset.waits));
    assert.deepEqual(arrows, ['0-2', '2-0']);
    assert.match(await player.announced(), /D1 deadlock/);
  });

  test('says what is wrong with a text that is not a trace', async () => {
    await player.element.evaluate(element => element.load('{"traceEvents": []}'));
    assert.match(await player.element.locator('.stage').textContent(), /not a trace for the player/);
  });

  test('shows each rank twice in a double tree', async () => {
    await show(urls.double);
    assert.equal(await player.element.locator('.rank').count(), 16);
    await opened.page.keyboard.press('End');
    assert.equal(await player.sums(), 16);
  });

  test('names its controls, and every key in the help', async () => {
    for (const name of ['Play', 'One step on', 'One step back', 'To the beginning', 'To the end', 'Light or dark', 'Keys']) {
      assert.equal(await player.button(name).count(), 1, name);
    }
    await opened.page.keyboard.press('?');
    assert.match(await player.element.locator('.keys').innerText(), /one step back/);
    await opened.page.keyboard.press('Escape');
    assert.ok(await player.element.locator('.keys').isHidden());
  });

  test('is light or dark, as the system or as one says', async () => {
    const ground = () => player.element.locator('.player').evaluate(part => getComputedStyle(part).backgroundColor);
    const light = await ground();
    await opened.page.keyboard.press('t');
    const dark = await ground();
    assert.notEqual(dark, light);
    await show(urls.ring, {colorScheme: 'dark'});
    assert.equal(await ground(), dark);
  });

  test('jumps where less motion is wanted', async () => {
    await show(urls.ring, {reducedMotion: 'reduce'});
    await opened.page.keyboard.press('ArrowRight');
    assert.ok(await player.time() > 2e6);
  });

  test('prints a strip of frames', async () => {
    const pdf = await opened.page.pdf();
    assert.ok(pdf.length > 10_000);
    await opened.page.emulateMedia({media: 'print'});
    assert.equal(await player.element.locator('.strip .frame').count(), 6);
    assert.ok(await player.element.locator('.strip').isVisible());
    assert.ok(await player.element.locator('.stage').isHidden());
  });

  test('fits a narrow window', async () => {
    await show(urls.ring, {viewport: {width: 640, height: 700}});
    const wide = await opened.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 640, `${wide}`);
  });

  for (const colorScheme of ['light', 'dark']) {
    test(`has no serious finding of axe, ${colorScheme}`, async () => {
      await show(urls.ring, {colorScheme});
      await opened.page.keyboard.press('p');
      await player.element.getByRole('group', {name: 'Question'}).waitFor();
      await opened.page.evaluate(readFileSync(axePath, 'utf8'));
      const {violations} = await opened.page.evaluate(() => window.axe.run());
      const told = violations.map(({id, impact, nodes}) => `${impact}: ${id}: ${nodes.map(node => node.html.slice(0, 120)).join(' | ')}`);
      assert.deepEqual(told.filter(text => /^(serious|critical)/.test(text)), []);
    });
  }
});
