// What a deck is made of: excerpts, wrong answers, slides.
import {describe, expect, it} from 'vitest';
import {deckOf} from '../deck.mjs';
import {excerpt, excerptOf} from '../excerpt.mjs';
import {wrongAnswerOf} from '../wrong_answers.mjs';

const source = `#include <x>

// Adds.
// And returns it.
template <class T>
T add(T a, T b) {
  if (a) {
    return a + b;
  }
  return b;
}

int use() { return add(1, 2); }
void declared(int);

struct Pair {
  int a, b;
  int sum() const {
    return add(a, b);
  }
};

void twice(int) {
}
void twice(double) {
}
// [middle]
int x = add(3, 4);
// [/middle]
`.split('\n');

describe('an excerpt', () => {
  it('is a definition with the comment above it', () => {
    const found = excerptOf(source, 'add') ?? [];
    expect([found[0], found.at(-1), found.length]).toEqual(['// Adds.', '}', 9]);
  });
  it('is a struct with all that is in it', () => expect(excerptOf(source, 'Pair')?.at(-1)).toBe('};'));
  it('is the text between markers', () => expect(excerptOf(source, 'middle')).toEqual(['int x = add(3, 4);']));
  it('is not made from a declaration', () => expect(excerptOf(source, 'declared')).toBeUndefined());
  it('of a name that is defined twice needs a marker', () => expect(() => excerptOf(source, 'twice')).toThrow('defined 2 times'));
  it('that is not there any more stops the build, and says where', () => {
    expect(() => excerpt('solutions/05_broadcast/broadcast.cpp', 'no_such_function')).toThrow('broadcast.cpp has no "no_such_function"');
  });
  it('is outdented', () => expect(excerpt('slides/03_send_recv/both_send_first.cpp', 'ring')).toMatch(/^dist::send/));
});

describe('a wrong answer', () => {
  it('is quoted up to its first sentence', () => {
    const {misconception, killedBy} = wrongAnswerOf('02_new_group', 'absent_starts_at_zero');
    expect([misconception, killedBy]).toEqual(['a rank without the sum contributes zero.', 'Part3BothSums.negative_sums']);
  });
  it('is quoted without the answer in brackets', () => {
    expect(wrongAnswerOf('13_distributed_sampler', 'rank_in_the_epochs_seed').misconception).toBe('random numbers must differ between ranks.');
  });
  it('that does not exist stops the build', () => {
    expect(() => wrongAnswerOf('02_new_group', 'none')).toThrow('no wrong answer "none"');
    expect(() => wrongAnswerOf('99_none', 'none')).toThrow('no wrong answers of lab 99_none');
  });
});

describe('a deck', () => {
  const deck = deckOf('<!-- title -->\n# The title\n\nNote:\nfor me\n\n---\n\n## Two, $n^2$\n\n```cpp\nint x = 1;\n```\n');
  it('is named by its first heading', () => expect(deck.title).toBe('The title'));
  it('has a section a slide, with its class', () => {
    expect(deck.sections).toHaveLength(2);
    expect(deck.sections[0]).toMatch(/^<section class="title">/);
  });
  it('keeps notes apart', () => expect(deck.sections[0]).toContain('<aside class="notes"><p>for me</p>'));
  it('has its formulas set and its code coloured', () => {
    expect(deck.sections[1]).toContain('class="katex"');
    expect(deck.sections[1]).toContain('<span class="hljs-type">int</span>');
  });
  it('without a title is refused', () => expect(() => deckOf('text')).toThrow('# its title'));
  it('with an invalid formula is refused', () => expect(() => deckOf('# T\n\n$\\frac{$')).toThrow());
});
