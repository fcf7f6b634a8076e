// A deck: slides.md as HTML sections. Slides are separated by a line "---"; what follows a line "Note:" is for the
// speaker; a first line "<!-- title -->" gives a slide the class of that name. $x$ and $$x$$ are KaTeX, {{x}} is a figure.
import katex from 'katex';
import {Marked} from 'marked';
import {blocks} from './blocks.mjs';
import {withFigures} from './figures.mjs';

// MathML is added for screen readers.
/** @param {string} tex @param {boolean} displayMode */
const math = (tex, displayMode) => katex.renderToString(tex, {displayMode, throwOnError: true});

/** @type {import('marked').TokenizerAndRendererExtension} */
const mathExtension = {
  name: 'math', level: 'inline',
  start: source => source.indexOf('$'),
  tokenizer(source) {
    const found = /^(\$\$?)([^$]+)\1/.exec(source);
    return found ? {type: 'math', raw: found[0], tex: found[2], display: found[1] === '$$'} : undefined;
  },
  renderer: token => math(token.tex, token.display),
};

const marked = new Marked({
  extensions: [mathExtension],
  renderer: {
    code({text, lang}) {
      const [name = '', ...words] = (lang ?? '').split(/\s+/);
      const block = blocks[name];
      if (!block) return false;
      return `${block(words, text, inline)}\n`;
    },
  },
});

/** @param {string} text @returns {string} */
const inline = text => /** @type {string} */ (marked.parse(text, {async: false})).replace(/^<p>([^]*)<\/p>\n$/, '$1');

/**
 * @param {string} markdown
 * @returns {{title: string, sections: string[], notes: number}} of how many slides there are notes
 */
export function deckOf(markdown) {
  const parts = withFigures(markdown).split(/^---$/m);
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (!title) throw new Error('a deck begins with "# its title"');
  return {title, sections: parts.map(section), notes: parts.filter(part => /^Note:/m.test(part)).length};
}

/** @param {string} part */
function section(part) {
  const [text = '', note] = part.split(/^Note:/m);
  const kind = /^\s*<!-- ([\w -]+) -->/.exec(text)?.[1] ?? '';
  const html = marked.parse(text.replace(/^\s*<!-- [\w -]+ -->/, ''), {async: false});
  const aside = note ? `<aside class="notes">${marked.parse(note.trim(), {async: false})}</aside>` : '';
  return `<section${kind ? ` class="${kind}"` : ''}>\n${html}${aside}</section>`;
}
