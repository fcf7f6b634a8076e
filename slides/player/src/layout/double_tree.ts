// A double binary tree: each half of the tensor has a tree of its own, and every rank is in both. One is above and
// the other, mirrored, below, so that you see that the inner ranks of one are leaves of the other.
import type {Cell} from '../model/cells.ts';
import type {Message} from '../model/trace.ts';
import {cardSize, keepRight, type Layout, type Place, type Region, type Size} from './layout.ts';
import {arrange, columns, indexOf, linksOf, placesOf, roomBeside, type Tree, treeOf} from './tree.ts';

export interface DoubleTree {
  trees: [Tree, Tree];
  half: number; // bytes of the tensor that go through the first
}

export function doubleTreeOf(messages: readonly Message[], ranks: number): DoubleTree | null {
  const known = messages.filter(message => message.offset >= 0);
  const edges = [...new Set(known.flatMap(({offset, bytes}) => [offset, offset + bytes]))].sort((a, b) => a - b);
  const end = edges.at(-1) ?? 0;
  // The halves need not be equal to the byte: takes the edge nearest to the middle.
  const half = edges.reduce((best, edge) => Math.abs(edge - end / 2) < Math.abs(best - end / 2) ? edge : best, 0);
  const first = treeOf(known.filter(message => message.offset < half), ranks);
  const second = treeOf(known.filter(message => message.offset >= half), ranks);
  return first && second ? {trees: [first, second], half} : null;
}

export function doubleTree(of: DoubleTree, cells: Cell[], size: Size): Layout {
  const indices = cells.map((_, i) => i);
  const isFirst = (cell: number) => cells[cell]!.from < of.half;
  const upper = arrange(of.trees[0]), lower = arrange(of.trees[1]);
  const levels = of.trees[0].depth + of.trees[1].depth + 2.5;
  const gapY = (size.height - 16) / levels;
  const glyph = cardSize(roomBeside([upper, lower], size.width / upper.size), gapY, Math.ceil(cells.length / 2));
  const column = columns(upper.size, size.width, glyph);
  // In both trees a rank is in the same column, as long as both are in order.
  const above = placesOf(upper, indices.filter(isFirst), ({x, y}) => ({x: column(x), y: 8 + (y + 0.5) * gapY}));
  const below = placesOf(lower, indices.filter(cell => !isFirst(cell)),
                         ({x, y}) => ({x: column(x), y: size.height - 8 - (y + 0.5) * gapY}));
  const places: Place[] = [...above, ...below];
  const cut = 8 + (of.trees[0].depth + 1.25) * gapY;
  // A label is on the root's level, where no other rank is.
  const region = (label: string, root: Place, y: number, bottom: number): Region =>
    ({label, corner: {right: root.at.x < size.width / 2, bottom: y > cut}, x: 4, y, width: size.width - 8, height: bottom - y});
  return {
    places, glyph,
    links: [...linksOf(of.trees[0], 0, above), ...linksOf(of.trees[1], above.length, below)],
    regions: [region('tree of the first half', above[indexOf(above, of.trees[0].root)]!, 4, cut - 4),
              region('tree of the second half', below[indexOf(below, of.trees[1].root)]!, cut + 4, size.height - 4)],
    bend: keepRight,
    placeOf: (rank, message) => message && message.offset >= of.half ? above.length + indexOf(below, rank) : indexOf(above, rank),
  };
}
