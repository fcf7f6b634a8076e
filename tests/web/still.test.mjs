// The still picture at the top of README.md: slides/player/still.sh makes it, and what it makes now looks like the one kept.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {open, useBrowser} from './browser.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const use = useBrowser();
const asUrl = file => `data:image/png;base64,${readFileSync(file).toString('base64')}`;
let made = '';

before(() => {
  made = path.join(use.folder, 'ring.png');
  execFileSync(path.join(root, 'slides/player/still.sh'), [process.env.DISTLAB_PROGRAM, made], {stdio: 'pipe'});
});

// Width, height, and the share of pixels that differ visibly.
async function compared(one, other) {
  const {page, close} = await open(use, 'about:blank');
  const found = await page.evaluate(async urls => {
    const pictures = await Promise.all(urls.map(async url => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    }));
    const [a, b] = pictures.map(({data}) => data), {width, height} = pictures[0];
    let others = 0;
    for (let i = 0; i < a.length; i += 4) others += [0, 1, 2].some(channel => Math.abs(a[i + channel] - b[i + channel]) > 40);
    return {width, height, differs: a.length === b.length ? others / (width * height) : 1};
  }, [one, other]);
  await close();
  return found;
}

test('is made, and shows what labs/handbook/ring.png shows', async () => {
  const {width, height, differs} = await compared(asUrl(made), asUrl(path.join(root, 'labs/handbook/ring.png')));
  assert.deepEqual([width, height], [1000, 620]);
  console.log(`${(100 * differs).toFixed(2)} % of the pixels differ`);
  assert.ok(differs < 0.01, `${(100 * differs).toFixed(2)} % of the pixels differ: slides/player/still.sh makes it anew`); // letters may
});
