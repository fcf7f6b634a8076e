// The HTML file of a deck, with everything in it: it opens from disk, without a network.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {build} from 'vite';
import {escaped} from './blocks.mjs';
import {slides} from './paths.mjs';

const require = createRequire(import.meta.url);

/** reveal.js, the player and the theme, bundled. @returns {Promise<{script: string, style: string}>} */
export async function runtime() {
  const built = await build({
    configFile: false, logLevel: 'error', root: slides,
    build: {write: false, target: 'es2022', cssCodeSplit: false, assetsInlineLimit: Infinity,
            lib: {entry: path.join(slides, 'builder/runtime/deck.ts'), formats: ['es'], fileName: 'deck', cssFileName: 'deck'}},
  });
  const outputs = [built].flat().flatMap(result => ('output' in result ? result.output : []));
  const script = outputs.find(file => file.type === 'chunk'), style = outputs.find(file => file.fileName.endsWith('.css'));
  if (script?.type !== 'chunk' || style?.type !== 'asset') throw new Error('the decks\' script was not built');
  return {script: script.code.replaceAll('</script', '<\\/script'), style: `${style.source}`};
}

/** KaTeX's style with its fonts inside; of the three formats the one that every browser reads. */
function mathStyle() {
  const file = require.resolve('katex/dist/katex.min.css');
  return readFileSync(file, 'utf8')
    .replace(/,url\([^)]+\) format\("(woff|truetype)"\)/g, '')
    .replace(/url\(([^)]+\.woff2)\)/g, (_, font) =>
      `url(data:font/woff2;base64,${readFileSync(path.join(path.dirname(file), font)).toString('base64')})`);
}

/**
 * @param {{title: string, sections: string[]}} deck
 * @param {{script: string, style: string}} parts
 * @param {string} language
 */
export function pageOf({title, sections}, {script, style}, language) {
  const body = sections.join('\n');
  const math = body.includes('class="katex') ? `<style>${mathStyle()}</style>` : '';
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
${math}
</head>
<body>
<main class="reveal"><div class="slides">
${body}
</div></main>
<script type="module">${script}</script>
</body>
</html>
`;
}
