// The wrong answers that the labs keep.
import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import path from 'node:path';
import {root} from './paths.mjs';

/**
 * @param {string} lab "05_broadcast"
 * @param {string} name
 * @returns {{misconception: string, killedBy: string}}
 */
export function wrongAnswerOf(lab, name) {
  const grading = path.join(root, 'tests/grading'), file = path.join(grading, lab, 'wrong_answers.cpp');
  if (!existsSync(file)) throw new Error(`there are no wrong answers of lab ${lab}`);
  const rows = execFileSync(path.join(grading, 'wrong_answers.sh'), ['list', file], {encoding: 'utf8'}).split('\n');
  const row = rows.find(line => line.startsWith(`${name}\t`));
  if (!row) throw new Error(`lab ${lab} has no wrong answer "${name}"`);
  const [, told = '', killedBy = ''] = row.split('\t');
  // What follows the first sentence, even in brackets, is often the answer.
  const misconception = /^.*?[.?!](?=\s[A-Z(]|$)/.exec(told)?.[0] ?? told;
  return {misconception, killedBy};
}
