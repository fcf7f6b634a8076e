// The trace goes to Perfetto, or into a file. A page that stands in for Perfetto says what it was given: it listens as
// Perfetto does, only to the window that opened it, and answers PING with PONG once it is ready.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {afterEach, before, beforeEach, describe, test} from 'node:test';
import {open, pageOf, useBrowser} from './browser.mjs';

const use = useBrowser();
const address = 'https://ui.perfetto.dev/';
const standIn = `<!doctype html><title>stand-in</title><script>
  window.given = [];
  window.pings = 0;
  addEventListener('message', ({source, data}) => {
    if (source !== opener) return;
    if (data !== 'PING') given.push({title: data.perfetto.title, json: new TextDecoder().decode(data.perfetto.buffer), pings});
    else if (++pings > 2) source.postMessage('PONG', '*'); // it takes its time
  });
</script>`;

describe('a trace', () => {
  let url, opened, button;
  before(() => { url = pageOf(use.folder, 'ring', 'all_reduce', '-a', 'ring', '-n', '4', '-b', '64KiB'); });

  const show = async hasNetwork => {
    opened = await open(use, 'about:blank');
    await opened.page.context().route(`${address}**`, route => route.fulfill({contentType: 'text/html', body: standIn}));
    await opened.page.addInitScript(value => Object.defineProperty(navigator, 'onLine', {get: () => value}), hasNetwork);
    await opened.page.goto(url);
    button = opened.page.locator('distlab-player').getByRole('button', {name: 'Perfetto'});
  };
  beforeEach(() => { opened = undefined; });
  afterEach(async () => {
    const {complaints, close} = opened;
    await close();
    assert.deepEqual(complaints.filter(text => text !== 'asks for about:blank'), []);
  });

  const isOfTheRing = json => {
    const {traceEvents, otherData} = JSON.parse(json);
    assert.match(otherData.title, /all_reduce by ring, 4 ranks/);
    const names = traceEvents.filter(({name}) => name === 'thread_name').map(({args}) => args.name);
    assert.deepEqual(names.filter(name => !name.endsWith('sends')), ['rank 0', 'rank 1', 'rank 2', 'rank 3']);
    assert.equal(traceEvents.filter(({ph, name}) => ph === 'X' && name.startsWith('to ')).length, 4 * 6);
  };
  const fileAfter = async click => {
    const [download] = await Promise.all([opened.page.waitForEvent('download'), click()]);
    assert.match(download.suggestedFilename(), /^all_reduce_by_ring_4_ranks\w*\.json$/);
    return readFileSync(await download.path(), 'utf8');
  };

  test('is handed to Perfetto once, when that is ready', async () => {
    await show(true);
    const [viewer] = await Promise.all([opened.page.waitForEvent('popup'), button.click()]);
    await viewer.waitForURL(address);
    await viewer.waitForFunction(() => window.given.length > 0);
    await viewer.waitForTimeout(500); // it does not ask any more
    const {given, pings} = await viewer.evaluate(() => ({given: window.given, pings: window.pings}));
    assert.equal(given.length, 1);
    assert.ok(pings >= 3, `asked ${pings} times`); // more often where PONG took longer than the time between two
    assert.equal(pings, given[0].pings);
    assert.match(given[0].title, /all_reduce by ring, 4 ranks/);
    isOfTheRing(given[0].json);
  });

  test('is kept as a file where there is no network', async () => {
    await show(false);
    isOfTheRing(await fileAfter(() => button.click()));
    assert.equal(opened.page.context().pages().length, 1);
  });

  test('is kept as a file with Shift', async () => {
    await show(true);
    isOfTheRing(await fileAfter(() => button.click({modifiers: ['Shift']})));
    assert.equal(opened.page.context().pages().length, 1);
  });
});
