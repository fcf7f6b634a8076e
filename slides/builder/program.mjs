// What the program distlab makes for slides: traces, figures, printed text. All of it is kept in
// build/slides/cache for the next time that the same program gets the same command.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {output, root} from './paths.mjs';

const program = process.env.DISTLAB_PROGRAM ?? path.join(root, 'build/dev/bin/distlab');
const cache = path.join(output, 'cache');

/**
 * "./name" is a program beside a deck (slides/CMakeLists.txt), "./lab_14_solution_demo" a lab's demonstration.
 * @param {string} what
 */
const isOurs = what => what.startsWith('./');
/** @param {string} what */
const ours = what => path.join(path.dirname(program), what.replace(/^\.\/(?!lab_)/, 'slides_'));

/** The player JSON of `distlab sim WORDS`. @param {string[]} words */
export const traceOf = words => kept('player', words, file => {
  const trace = `${file}.trace`;
  run(['sim', ...words, '--trace', trace]);
  run(['trace', trace, '--format', 'player', '-o', file]);
});

/** The SVG that `distlab WORDS --plot` draws. @param {string[]} words */
export const plotOf = words => kept('svg', words, file => run([...words, '--plot', file]));

/** What `distlab WORDS`, or a program beside a deck, prints. @param {string[]} words */
export const printedBy = words => kept('txt', words, file => writeFileSync(file, run(words)));

/** @param {string} kind @param {string[]} words @param {(file: string) => void} make */
function kept(kind, words, make) {
  const changed = [program, ...words.filter(isOurs).map(ours)].map(file => {
    if (!existsSync(file)) throw new Error(`there is no ${file}: ./distlab slides builds it`);
    return statSync(file).mtimeMs;
  });
  const key = createHash('sha256').update(JSON.stringify([words, changed])).digest('hex').slice(0, 16);
  const file = path.join(cache, `${key}.${kind}`);
  if (!existsSync(file)) {
    mkdirSync(cache, {recursive: true});
    make(file);
  }
  return readFileSync(file, 'utf8');
}

// A program beside a deck may be wrong in a simulation: that is what the deck is about.
/** @param {string[]} words */
function run(words) {
  const [file = '', ...told] = (isOurs(words[0] ?? '') ? words : [program, ...words]).map(word => (isOurs(word) ? ours(word) : word));
  const env = {...process.env, DISTLAB_ROOT: root, DISTLAB_BUILD: path.dirname(path.dirname(program)), NO_COLOR: '1', COLUMNS: '100'};
  try {
    return execFileSync(file, told, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], cwd: root, env});
  } catch (error) {
    const {stderr, stdout} = /** @type {{stderr?: string, stdout?: string}} */ (error);
    if (stderr && words[0] === 'sim' && words.some(isOurs)) return stderr; // its report
    throw new Error(`${path.basename(file)} ${told.join(' ')} failed: ${stderr || stdout || error}`);
  }
}
