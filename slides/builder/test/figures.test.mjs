// A deck's figures: computed by a program, never typed into a table.
import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {decks} from '../build.mjs';
import {typedFigures, withFigures} from '../figures.mjs';

const printed = () => '   ranks   algorithm\n  8   ring        28 MiB   3.81 ms\n 16   ring  30 MiB\none tree 16 *48*\nrest 2, 2,  4\n';
/** @param {string} text */
const shown = text => withFigures(`<!-- title -->\n<!-- figures sim all_reduce -->\n${text}`, printed).replace('<!-- title -->\n', '');

describe('figures', () => {
  it('are what a program prints behind a name', () => expect(shown('{{rest}}')).toBe('2, 2,  4'));
  it('are single words of it', () => expect(shown('{{8 ring: 1}} {{8 ring: 4}}')).toBe('28 ms'));
  it('are cells of a table', () => expect(shown('| one tree | {{one tree: |}} |')).toBe('| one tree | 16 | *48* |'));
  it('stand in all of a deck', () => expect(shown('$x$ {{16 ring: 1}}\n\n---\n\nNote:\n{{16 ring: 1}}')).toBe('$x$ 30\n\n---\n\nNote:\n30'));
  it('that no program prints stop the build', () => expect(() => shown('{{tree}}')).toThrow('{{tree}}: no line'));
  it('that several lines have stop the build', () => {
    expect(() => withFigures('<!-- figures x -->\n{{a}}', () => 'a 1\na 2\n')).toThrow('{{a}}: 2 lines');
  });
  it('beyond a line\'s end stop the build', () => expect(() => shown('{{16 ring: 3}}')).toThrow('there are 2 words only: 30 MiB'));
  it('are those of the command that a deck names', () => {
    expect(withFigures('<!-- figures ./it -n 8 -->\n{{a}}', words => `a ${words.join('+')}\n`)).toBe('./it+-n+8');
  });
  it('are none where no command is named', () => expect(withFigures('{{a}}', printed)).toBe('{{a}}'));
});

describe('a typed figure', () => {
  const table = '| n | bytes |\n|---|---|\n| ring 8 | 28 |\n';
  it('in a table is found', () => expect(typedFigures(table)).toEqual(['| ring 8 | 28 |']));
  it('is none where a program makes it, in a formula, in code, in a name', () => {
    expect(typedFigures('| n | 8 |\n|---|---|\n| 8 | {{ring: 1}} | $2S$ | `1` | D4 |\n')).toEqual([]);
  });
  it('may be given, with a reason', () => {
    expect(typedFigures(`<!-- given: a data sheet -->\n${table}\n---\n${table}`)).toHaveLength(1);
  });
  it('of code and notes is not a table\'s', () => expect(typedFigures(`\`\`\`text\n${table}\`\`\`\nNote:\n${table}`)).toEqual([]));

  for (const {page, source} of decks()) {
    it(`is in no table of ${page}`, () => expect(typedFigures(readFileSync(source, 'utf8'))).toEqual([]));
  }
});
