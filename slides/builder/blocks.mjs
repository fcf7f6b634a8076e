// The fenced blocks of a deck that are more than text. Each becomes HTML:
//
//   ```cpp, ```sh, ```text     as large as there is room
//   ```code FILE NAME [PIXELS] a definition, or what is between markers (excerpt.mjs), at most this high
//   ```player all_reduce ...   what `distlab sim` takes, or "./name" for a program beside the deck; "view=tree", "predict"
//                              and "lanes" are the player's
//   ```figure sim ...          the plot of this command
//   ```output sim ...          what this command prints, under the command; with "| head -7", only its first lines
//   ```quiz LAB WRONG_ANSWER   the misconception; the block's text is the answer
import hljs from 'highlight.js/lib/core';
import cpp from 'highlight.js/lib/languages/cpp';
import {excerpt} from './excerpt.mjs';
import {wrongAnswerOf} from './wrong_answers.mjs';
import {plotOf, printedBy, traceOf} from './program.mjs';

hljs.registerLanguage('cpp', cpp);

/** @param {string} text */
export const escaped = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

// As large as the longest line and the number of lines allow, in a frame of this many pixels.
const frame = {width: 1100, height: 500}, largest = 21, wide = 0.605, high = 1.42;

/** @param {string} text @param {string} html @param {string} kind @param {number} [height] */
function fitted(text, html, kind, height = frame.height) {
  const lines = text.split('\n');
  const size = Math.min(largest, frame.width / (wide * Math.max(...lines.map(line => line.length))), height / (high * lines.length));
  return `<pre class="${kind}" style="font-size: ${size.toFixed(1)}px">${html}</pre>`;
}

/** @param {string} text @param {number} [height] */
const highlighted = (text, height) =>
  fitted(text.trimEnd(), `<code>${hljs.highlight(text.trimEnd(), {language: 'cpp'}).value}</code>`, 'code', height);

/** @param {string} text */
const plain = text => fitted(text.trimEnd(), escaped(text.trimEnd()), 'plain');

/** @type {Record<string, (words: string[], body: string, inline: (text: string) => string) => string>} */
export const blocks = {
  cpp: (_, body) => highlighted(body),
  sh: (_, body) => plain(body),
  text: (_, body) => plain(body),

  code: ([file = '', name = '', height = `${frame.height}`]) =>
    `<figure>${highlighted(excerpt(file, name), Number(height))}<figcaption>${escaped(file)}</figcaption></figure>`,

  player: words => {
    const own = words.filter(word => /^(view=|predict$|lanes$)/.test(word));
    const view = own.find(word => word.startsWith('view='))?.slice(5).replaceAll('_', ' ');
    const attributes = [view && ` view="${escaped(view)}"`, own.includes('predict') && ' predict', !own.includes('lanes') && ' compact'];
    const json = traceOf(words.filter(word => !own.includes(word))).replaceAll('<', '\\u003c');
    return `<distlab-player${attributes.filter(Boolean).join('')}><script type="application/json">${json}</script></distlab-player>`;
  },

  figure: (words, body, inline) => {
    const image = Buffer.from(plotOf(words)).toString('base64');
    const about = body.trim() || `Plot of ./distlab ${words.join(' ')}`;
    return `<figure class="plot"><img src="data:image/svg+xml;base64,${image}" alt="${escaped(about)}">` +
           `<figcaption>${body.trim() ? `${inline(body.trim())} ` : ''}<code>./distlab ${escaped(words.join(' '))}</code></figcaption></figure>`;
  },

  output: words => {
    const command = `$ ./distlab ${words.join(' ')}`, [told = '', lines] = words.join(' ').split(' | head -');
    const printed = printedBy(told.split(' ')).split('\n').slice(0, lines ? Number(lines) : undefined).join('\n').trimEnd();
    return fitted(`${command}\n${printed}`, `<b>${escaped(command)}</b>\n${escaped(printed)}`, 'terminal');
  },

  // A deck in another language gives the misconception in its own words.
  quiz: ([lab = '', name = '', ...own], body, inline) => {
    const {misconception, killedBy} = wrongAnswerOf(lab, name);
    const said = own.join(' ') || misconception.charAt(0).toUpperCase() + misconception.slice(1);
    const [asked, wrong, caught] = own.length > 0 ? ['对吗？相信它的程序会怎样？', '错误答案', '被它发现：'] :
                                                     ['True? What does a program do that believes it?', 'wrong answer', 'caught by'];
    return `<blockquote>“${inline(said)}”</blockquote><p>${asked}</p>` +
           `<div class="fragment answer">${inline(body.trim())}<p class="source">${wrong} <code>${escaped(name)}</code>, ` +
           `${caught} <code>${escaped(killedBy)}</code></p></div>`;
  },
};
