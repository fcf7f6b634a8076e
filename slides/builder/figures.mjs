// Figures in a deck's text: nothing that a program can compute is typed by hand. "<!-- figures sim all_reduce -n 8
// -->" names a command of distlab, "<!-- figures ./name -->" a program beside the deck. Everywhere in the deck
// {{ring}} is then what follows "ring" in the one line of that output that begins with it; {{ring: 2}} is the
// second word of it, {{ring: |}} all words, a cell each.
import {printedBy} from './program.mjs';

const declared = /^<!-- figures (.+) -->\n/gm, asked = /\{\{([^{}\n]+?)(?:: (\d+|\|))?\}\}/g;

/**
 * @param {string} text of a deck
 * @param {(words: string[]) => string} printed by a command
 */
export function withFigures(text, printed = printedBy) {
  const sources = [...text.matchAll(declared)].map(([, words = '']) => words.split(/\s+/));
  if (sources.length === 0) return text;
  const lines = sources.flatMap(words => printed(words).split('\n')).map(line => line.trim());
  return text.replace(declared, '').replace(asked, (all, name, place) => {
    const [figures = '', ...others] = lines.flatMap(line => behind(name, line));
    if (!figures) throw new Error(`${all}: no line of this deck's figures begins with "${name}"`);
    if (others.length > 0) throw new Error(`${all}: ${1 + others.length} lines of this deck's figures begin with "${name}"`);
    if (!place) return figures;
    const words = figures.split(/\s+/), figure = place === '|' ? words.join(' | ') : words[place - 1];
    if (!figure) throw new Error(`${all}: there are ${words.length} words only: ${figures}`);
    return figure;
  });
}

// Several spaces separate the columns of a printed table, one space the words of a name in a deck.
/** @param {string} name @param {string} line */
function behind(name, line) {
  const words = name.split(' '), found = line.split(/\s+/, words.length);
  return found.join(' ') === name ? [line.replace(new RegExp(`^(\\S+\\s+){${words.length}}`), '')] : [];
}

/**
 * The rows of a deck's tables in which figures are typed. A table's head and its first column are names, and formulas and
 * code are not figures; "<!-- given: why -->" on a slide says why its figures come from nowhere else.
 * @param {string} text of a deck
 * @returns {string[]}
 */
export function typedFigures(text) {
  const slides = text.split(/^---$/m).filter(slide => !slide.includes('<!-- given: '));
  return slides.flatMap(slide => {
    const lines = slide.split(/^Note:/m)[0]?.replace(/^```[^]*?^```$/gm, '').split('\n') ?? [];
    const begin = lines.map(line => /^\|[-|]+\|$/.test(line));
    return lines.filter((line, i) => line.startsWith('|') && !begin[i] && !begin[i + 1] && hasFigure(line));
  });
}

/** @param {string} row */
function hasFigure(row) {
  const cells = row.replace(asked, '').replace(/\$[^$]+\$|`[^`]+`/g, '').split('|').slice(2);
  return cells.some(cell => /(^|[^\w])\d/.test(cell));
}
