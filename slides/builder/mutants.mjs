// The wrong answers that the labs keep, from the kill matrix of tests/grading/MUTANTS.md.
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {root} from './paths.mjs';

/**
 * @param {string} lab "05_broadcast"
 * @param {string} mutant
 * @returns {{misconception: string, killedBy: string}}
 */
export function mutantOf(lab, mutant) {
  const text = readFileSync(path.join(root, 'tests/grading/MUTANTS.md'), 'utf8');
  const table = text.split(/^## Lab /m).find(part => part.startsWith(`${lab}\n`));
  if (!table) throw new Error(`tests/grading/MUTANTS.md has no wrong answers of lab ${lab}`);
  const row = table.split('\n').find(line => line.startsWith(`| ${mutant} |`));
  if (!row) throw new Error(`lab ${lab} has no wrong answer "${mutant}"`);
  const [, , told = '', killedBy = ''] = row.split('|').map(cell => cell.trim());
  // What follows the first sentence, even in brackets, is often the answer.
  const misconception = /^.*?[.?!](?=\s[A-Z(]|$)/.exec(told)?.[0] ?? told;
  return {misconception, killedBy};
}
