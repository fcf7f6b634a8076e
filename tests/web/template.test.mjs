// The page that the program has inside is built from the sources as they are.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {useBrowser} from './browser.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const use = useBrowser();

test('lib/tools/distlab/player.html is what `npm run player` builds', () => {
  execFileSync('npx', ['vite', 'build', 'player', '--logLevel', 'warn', '--outDir', use.folder],
               {cwd: path.join(root, 'slides'), stdio: 'pipe'});
  const built = readFileSync(path.join(use.folder, 'index.html'), 'utf8');
  const kept = readFileSync(path.join(root, 'lib/tools/distlab/player.html'), 'utf8');
  assert.equal(built.length, kept.length, 'run `npm run player` in slides/ and commit what it wrote');
  assert.ok(built === kept, 'run `npm run player` in slides/ and commit what it wrote');
});

test('it is at most 250 KB, packed', () => {
  const packed = gzipSync(readFileSync(path.join(root, 'lib/tools/distlab/player.html'))).length;
  console.log(`packed: ${packed} bytes`);
  assert.ok(packed <= 250_000, `${packed}`);
});

test('types and the model\'s tests', () => {
  for (const script of ['check', 'test']) {
    execFileSync('npm', ['run', '--silent', script], {cwd: path.join(root, 'slides'), stdio: 'pipe'});
  }
});
