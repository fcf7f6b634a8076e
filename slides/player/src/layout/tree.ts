// Trees: found in the messages, drawn by depth, every rank above the ranks of its subtree.
import type {Message} from '../model/trace.ts';
import {cardSize, keepRight, type Layout, type Place, type Point, type Size} from './layout.ts';

export interface Tree {
  root: number;
  parent: Map<number, number>;
  children: Map<number, number[]>;
  depth: number;
}

// Returns the tree that the paths of these messages form, or null when they form none. Its root is where a
// broadcast begins or a sum becomes complete: the rank that sends the only part, or first the part with the most
// contributors.
export function treeOf(messages: readonly Message[], ranks: number): Tree | null {
  const near = new Map<number, Set<number>>();
  const join = (a: number, b: number) => near.set(a, (near.get(a) ?? new Set()).add(b));
  for (const {src, dst} of messages) join(src, dst), join(dst, src);
  const ways = [...near.values()].reduce((sum, peers) => sum + peers.size, 0) / 2;
  if (ranks < 3 || near.size !== ranks || ways !== ranks - 1) return null;
  return rooted(near, rootOf(messages), ranks);
}

function rootOf(messages: readonly Message[]): number {
  const sources = new Set(messages.flatMap(({contributors}) => contributors));
  if (sources.size === 1) return [...sources][0]!;
  const most = Math.max(...messages.map(({contributors}) => contributors.length));
  return most > 1 ? messages.find(({contributors}) => contributors.length === most)!.src : 0;
}

function rooted(near: Map<number, Set<number>>, root: number, ranks: number): Tree | null {
  const tree: Tree = {root, parent: new Map(), children: new Map(), depth: 0};
  const queue: [number, number][] = [[root, 0]];
  for (const [rank, depth] of queue) {
    tree.depth = Math.max(tree.depth, depth);
    const below = [...near.get(rank)!].filter(peer => peer !== tree.parent.get(rank)).sort((a, b) => a - b);
    tree.children.set(rank, below);
    for (const child of below) {
      if (tree.parent.has(child) || child === root) return null; // a circle
      tree.parent.set(child, rank);
      queue.push([child, depth + 1]);
    }
  }
  return queue.length === ranks ? tree : null;
}

// The position of each rank: x counts columns from 0, y levels from the root. Inner ranks are in order between
// their subtrees, so that a binary tree of ranks in order is drawn in order.
export function arrange(tree: Tree): Map<number, Point> {
  const at = new Map<number, Point>();
  let column = 0;
  const visit = (rank: number, level: number) => {
    const below = tree.children.get(rank) ?? [];
    const before = below.length === 1 ? (below[0]! < rank ? 1 : 0) : Math.ceil(below.length / 2);
    below.slice(0, before).forEach(child => visit(child, level + 1));
    at.set(rank, {x: column++, y: level});
    below.slice(before).forEach(child => visit(child, level + 1));
  };
  visit(tree.root, 0);
  return at;
}

export function tree(of: Tree, cells: number, size: Size): Layout {
  const all = Array.from({length: cells}, (_, cell) => cell);
  const at = arrange(of);
  const gapY = size.height / (of.depth + 1);
  const glyph = cardSize(roomBeside([at], size.width / at.size), gapY, cells);
  const column = columns(at.size, size.width, glyph);
  const places = placesOf(at, all, ({x, y}) => ({x: column(x), y: (y + 0.5) * gapY}));
  return {places, glyph, links: linksOf(of, 0, places), regions: [], bend: keepRight, placeOf: rank => indexOf(places, rank)};
}

// Cards may be wider than a column, where their neighbours are on other levels.
export function roomBeside(trees: Map<number, Point>[], gapX: number): number {
  let columns = 2.2;
  for (const at of trees) {
    const points = [...at.values()];
    for (const a of points) {
      for (const b of points) {
        if (a.y === b.y && a.x < b.x) columns = Math.min(columns, b.x - a.x);
      }
    }
  }
  return columns * gapX;
}

// The middle of each column, so that the outermost cards just have room.
export function columns(count: number, width: number, glyph: Size): (column: number) => number {
  const margin = Math.max(glyph.width / 2 + 3, width / count / 2);
  return column => count < 2 ? width / 2 : margin + (column * (width - 2 * margin)) / (count - 1);
}

export function placesOf(at: Map<number, Point>, cells: number[], pixel: (point: Point) => Point): Place[] {
  return [...at].sort(([a], [b]) => a - b).map(([rank, point]) => ({rank, at: pixel(point), cells}));
}

export function linksOf(of: Tree, first: number, places: Place[]): [number, number][] {
  return [...of.parent].map(([child, parent]) => [first + indexOf(places, parent), first + indexOf(places, child)]);
}

export function indexOf(places: Place[], rank: number): number {
  return places.findIndex(place => place.rank === rank);
}
