// Where ranks stand: found from the messages, inside the stage, and not over each other.
import {describe, expect, it} from 'vitest';
import {doubleTreeOf} from '../src/layout/double_tree.ts';
import type {Layout, Place} from '../src/layout/layout.ts';
import {arrange, treeOf} from '../src/layout/tree.ts';
import {layoutOf, type View, views, viewsFor} from '../src/layout/views.ts';
import {Timeline} from '../src/model/timeline.ts';
import {broadcastTree, collective, message, ringAllReduce} from './traces.ts';

const size = {width: 1200, height: 500};

// For n ranks: tree 1 by the lowest set bit, tree 2 the same ranks mirrored (n even); all go up, and the sum down.
function doubleTree(n: number) {
  const trace = collective(n, 'all_reduce', 'double_binary_tree', 10, 16);
  const parent = (rank: number) => {
    const bit = rank & -rank, up = (rank ^ bit) | (bit << 1);
    return up < n ? up : rank ^ bit;
  };
  for (let rank = 1; rank < n; ++rank) {
    trace.messages.push(message(rank, parent(rank), 0, 5, {offset: 0, bytes: 8, name: 'all_reduce'}));
    trace.messages.push(message(n - 1 - rank, n - 1 - parent(rank), 0, 5, {offset: 8, bytes: 8, name: 'all_reduce'}));
    if (parent(rank) !== 0) continue;
    const contributors = Array.from({length: n}, (_, i) => i);
    trace.messages.push(message(0, rank, 5, 9, {contributors, offset: 0, bytes: 8, name: 'all_reduce'}));
    trace.messages.push(message(n - 1, n - 1 - rank, 5, 9, {contributors, offset: 8, bytes: 8, name: 'all_reduce'}));
  }
  return trace;
}

function overlaps({places, glyph}: Layout): number {
  let count = 0;
  places.forEach((a, i) => places.slice(i + 1).forEach(b => {
    if (a.turn === undefined && Math.abs(a.at.x - b.at.x) < glyph.width - 0.5 && Math.abs(a.at.y - b.at.y) < glyph.height - 0.5) ++count;
  }));
  return count;
}

describe('trees', () => {
  it('are found with their root', () => {
    const tree = treeOf(broadcastTree().messages, 4)!;
    expect([tree.root, tree.depth, tree.children.get(0), tree.parent.get(3)]).toEqual([0, 2, [1, 2], 2]);
  });
  it('are not found in a ring', () => expect(treeOf(ringAllReduce(4).messages, 4)).toBeNull());
  it('are not found where ranks are missing', () => expect(treeOf(broadcastTree().messages, 5)).toBeNull());
  it('have every rank in a column of its own', () => {
    const columns = [...arrange(treeOf(broadcastTree().messages, 4)!).values()].map(({x}) => x);
    expect(columns.sort()).toEqual([0, 1, 2, 3]);
  });
  it.each([4, 8, 14, 32])('double ones of %d are two', n => {
    const both = doubleTreeOf(doubleTree(n).messages, n)!;
    expect(both.half).toBe(8);
    const inner = both.trees.map(tree => [...tree.children].filter(([, below]) => below.length > 0).map(([rank]) => rank));
    expect([...inner[0]!, ...inner[1]!].sort((a, b) => a - b)).toEqual(Array.from({length: n}, (_, rank) => rank));
  });
});

describe('the view', () => {
  const best = (trace: ReturnType<typeof ringAllReduce>) => viewsFor(new Timeline(trace).acts[0]!, trace)[0];
  it('of a ring is a ring', () => expect(best(ringAllReduce(4))).toBe('ring'));
  it('of a broadcast tree is a tree', () => expect(best(broadcastTree())).toBe('tree'));
  it('of a double tree is one', () => expect(best(doubleTree(8))).toBe('double tree'));
  it('of several nodes are groups', () => expect(best({...ringAllReduce(8), ranks_per_node: 4})).toBe('groups'));
  it('of ranks that wait for each other is a ring', () => {
    const party = (rank: number, other: number) => ({rank, doing: 'send', where: '', waits_for: [other]});
    const finding = {code: 'D1', title: 'deadlock', what: '', mend: '', parties: [party(0, 2), party(2, 0)]};
    expect(best({...broadcastTree(), findings: [finding]})).toBe('ring');
  });
  it('of two ranks is a line', () => expect(best(ringAllReduce(2))).toBe('line'));
  it('of a chain is a line', () => {
    const trace = collective(4, 'broadcast', 'chain', 30, 4);
    trace.messages = [0, 1, 2].map(rank => message(rank, rank + 1, rank * 10, rank * 10 + 10, {contributors: [0], name: 'broadcast'}));
    expect(best(trace)).toBe('line');
  });
});

describe.each(views.flatMap(view => [1, 2, 3, 4, 9, 16, 24, 64].map(n => [view, n] as const)))('%s of %d', (view: View, n) => {
  const trace = view === 'double tree' || view === 'tree' ? doubleTree(n) : ringAllReduce(n);
  if (view === 'tree') trace.messages = trace.messages.filter(({offset}) => offset === 0);
  const act = new Timeline(trace).acts[0]!;
  if (!viewsFor(act, trace).includes(view)) {
    it('is not offered', () => expect(n).toBeLessThanOrEqual(3));
    return;
  }
  const layout = layoutOf(view, act, trace, size);

  it('has every rank in the stage', () => {
    expect(new Set(layout.places.map(({rank}) => rank)).size).toBe(n);
    for (const {at} of layout.places) {
      const [halfX, halfY] = layout.places[0]!.turn === undefined ? [layout.glyph.width / 2, layout.glyph.height / 2] : [0, 0];
      expect(at.x - halfX).toBeGreaterThanOrEqual(0);
      expect(at.x + halfX).toBeLessThanOrEqual(size.width);
      expect(at.y - halfY).toBeGreaterThanOrEqual(0);
      expect(at.y + halfY).toBeLessThanOrEqual(size.height);
    }
  });
  it('has no card over another', () => expect(overlaps(layout)).toBe(0));
  it('has no card over the label of a region', () => {
    for (const {label, corner, x, y, width, height} of layout.regions) {
      const wide = 12 + 7 * label.length, left = corner.right ? x + width - wide : x, top = corner.bottom ? y + height - 24 : y;
      const covers = ({at}: Place) => Math.abs(at.x - left - wide / 2) < (layout.glyph.width + wide) / 2 &&
                                      Math.abs(at.y - top - 12) < (layout.glyph.height + 24) / 2;
      expect(layout.places.filter(covers).map(({rank}) => rank)).toEqual([]);
    }
  });
  it('finds each rank for each message', () => {
    for (const message of trace.messages) expect(layout.places[layout.placeOf(message.src, message)]!.rank).toBe(message.src);
  });
  it('shows every cell', () => {
    const cells = new Set(layout.places.filter(({rank}) => rank === 0).flatMap(place => place.cells));
    expect(cells.size).toBe(act.cells.list.length);
  });
});
