// Pieces of source files, found by name so that a slide cannot drift from the code it shows.
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {root} from './paths.mjs';

/**
 * A function, class or struct of a C++ file with the comment above it, or the text between the lines
 * "// [name]" and "// [/name]". Throws when there is no such thing, or two.
 * @param {string} file below the root of the repository
 * @param {string} name
 */
export function excerpt(file, name) {
  const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
  const found = excerptOf(lines, name);
  if (!found) throw new Error(`${file} has no "${name}": neither a definition nor a marker // [${name}]`);
  return outdented(found).join('\n');
}

/** @param {string[]} lines @param {string} name */
export const excerptOf = (lines, name) => betweenMarkers(lines, name) ?? definition(lines, name);

/** @param {string[]} lines @param {string} name */
function betweenMarkers(lines, name) {
  const begin = lines.findIndex(line => line.trim() === `// [${name}]`);
  const end = lines.findIndex(line => line.trim() === `// [/${name}]`);
  return begin >= 0 && end > begin ? lines.slice(begin + 1, end) : undefined;
}

/** @param {string[]} lines @param {string} name */
function definition(lines, name) {
  const word = new RegExp(`(^|[\\s*&])${name}\\b`);
  const heads = lines.flatMap((line, i) => word.test(line.replace(/\/\/.*/, '')) && opensAt(lines.slice(i, i + 4)) ? [i] : []);
  const [head] = heads;
  if (heads.length > 1) throw new Error(`"${name}" is defined ${heads.length} times: put a marker // [${name}] there`);
  if (head === undefined) return undefined;
  const end = `${/^\s*/.exec(lines[head] ?? '')}}`;
  const last = lines.findIndex((line, i) => i >= head && line.startsWith(end));
  const above = lines.slice(0, head).findLastIndex(line => !/^\s*(\/\/|template\b)/.test(line));
  return lines.slice(above + 1, last + 1);
}

/**
 * A definition's head ends in "{" before anything ends in ";".
 * @param {string[]} lines
 */
function opensAt(lines) {
  if (/^(\s{3,}|\s*(return|if|for|while|using|case|else)\b)/.test(lines[0] ?? '')) return false;
  return /[{;}]$/.exec(lines.find(line => /[{;}]$/.test(line.trimEnd()))?.trimEnd() ?? '')?.[0] === '{';
}

/** @param {string[]} lines */
function outdented(lines) {
  const depth = Math.min(...lines.filter(line => line.trim()).map(line => line.length - line.trimStart().length));
  return lines.map(line => line.slice(depth));
}
