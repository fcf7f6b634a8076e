// The still that `./distlab trace FILE --svg` writes (lib/tools/drawing/svg.cpp) shows what the lanes here show.
import {readFileSync} from 'node:fs';
import {beforeAll, describe, expect, it} from 'vitest';
import {parseTrace} from '../src/model/trace.ts';
import {Lanes} from '../src/draw/lanes.ts';

const file = (name: string) => readFileSync(new URL(`../../../tests/unit/trace/${name}`, import.meta.url), 'utf8');

// As much of an element as the lanes use.
class Plain {
  readonly attributes: Record<string, string> = {};
  readonly children: (Plain | string)[] = [];
  readonly style: Record<string, string> = {};
  constructor(readonly tag: string) {}
  setAttribute(name: string, value: string) { this.attributes[name] = value; }
  append(...more: (Plain | string)[]) { this.children.push(...more); }
}

const still = file('still.svg');
let drawn: Plain[];

beforeAll(() => {
  Object.assign(globalThis, {document: {createElementNS: (_: string, tag: string) => new Plain(tag)}});
  const [, width = '', height = ''] = /viewBox="0 0 (\d+) (\d+)"/.exec(still) ?? [];
  const lanes = new Lanes(parseTrace(file('still.json')), {width: Number(width), height: Number(height)});
  drawn = (lanes.element as unknown as Plain).children as Plain[];
});

describe('a still', () => {
  it('has the paths of the lanes', () => {
    const paths = drawn.filter(({tag, attributes}) => tag === 'path' && attributes['d']).map(({attributes}) => attributes['d']);
    expect([...still.matchAll(/ d="([^"]+)"/g)].map(([, d]) => d).sort()).toEqual(paths.sort());
  });
  it('has their numbers', () => {
    const numbers = drawn.filter(({tag}) => tag === 'text').map(({children}) => children[0]);
    expect([...still.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, words]) => words)).toEqual(numbers);
  });
});
