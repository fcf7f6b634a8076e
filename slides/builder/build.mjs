// Builds the decks into build/slides: build.mjs [NAME...], all without a name. A deck is a folder with slides.md, and
// slides.LANGUAGE.md for other languages; those of labs have the labs' numbers.
import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {escaped} from './blocks.mjs';
import {deckOf} from './deck.mjs';
import {pageOf, runtime} from './page.mjs';
import {output, slides} from './paths.mjs';

/** @returns {{name: string, language: string, source: string, page: string}[]} */
export function decks() {
  const folders = readdirSync(slides, {withFileTypes: true}).filter(entry => entry.isDirectory()).map(entry => entry.name);
  return folders.filter(name => existsSync(path.join(slides, name, 'slides.md'))).sort().flatMap(name =>
    readdirSync(path.join(slides, name)).flatMap(file => {
      const found = /^slides(?:\.([\w-]+))?\.md$/.exec(file);
      if (!found) return [];
      const page = `${name}${found[1] ? `.${found[1]}` : ''}.html`;
      return [{name, language: found[1] ?? 'en', source: path.join(slides, name, file), page}];
    }));
}

/** @param {string[]} names of decks; none: all */
export async function buildDecks(names = []) {
  const wanted = decks().filter(({name}) => names.length === 0 || names.some(asked => name === asked || name.startsWith(`${asked}_`)));
  if (wanted.length === 0) throw new Error(`there is no deck ${names.join(', ')}; there are ${decks().map(({name}) => name).join(', ')}`);
  const parts = await runtime();
  mkdirSync(output, {recursive: true});
  const built = wanted.map(entry => {
    try {
      const deck = deckOf(readFileSync(entry.source, 'utf8'));
      writeFileSync(path.join(output, entry.page), pageOf(deck, parts, entry.language));
      return {...entry, title: deck.title, count: deck.sections.length};
    } catch (error) {
      const said = `${error instanceof Error ? error.message : error}`.replace(/\nPlease report this to .*/, ''); // marked's own words
      throw new Error(`${path.relative(slides, entry.source)}: ${said}`);
    }
  });
  if (names.length === 0) writeFileSync(path.join(output, 'index.html'), tableOf(built));
  return built;
}

/** @param {{title: string, count: number, page: string, name: string}[]} built */
function tableOf(built) {
  const rows = built.map(({title, count, page, name}) =>
    `<li><a href="${page}"><b>${/^\d\d/.exec(name) ?? '·'}</b> ${escaped(title.replace(/^\d\d · /, ''))}</a> <small>${count} slides</small></li>`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>distlab: slides</title><link rel="icon" href="data:,">
<style>body{font:20px/1.6 system-ui,sans-serif;max-width:760px;margin:3em auto;color-scheme:light dark}ul{list-style:none;padding:0}b{display:inline-block;width:2em}</style>
<h1>Slides</h1><ul>${rows.join('\n')}</ul>
<p>In a deck: space goes on, S opens the speaker's notes, F fills the screen, ? shows all keys.</p></html>\n`;
}

/** One line, and the end. @param {unknown} error @returns {never} */
export function giveUp(error) {
  console.error(`slides: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    for (const {page, count} of await buildDecks(process.argv.slice(2))) console.log(`build/slides/${page}: ${count} slides`);
  } catch (error) {
    giveUp(error);
  }
}
