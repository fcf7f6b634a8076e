// A ring: rank 0 on top, then clockwise. Many ranks become spokes, whose cells are stacked outwards.
import {cardSize, type Layout, type Place, type Point, type Size} from './layout.ts';

const most_cards = 10;

export function ring(ranks: number, cells: number, size: Size): Layout {
  return ranks <= most_cards ? cards(ranks, cells, size) : spokes(ranks, cells, size);
}

const all = (cells: number) => Array.from({length: cells}, (_, cell) => cell);
const links = (ranks: number): [number, number][] =>
  ranks < 2 ? [] : Array.from({length: ranks}, (_, rank) => [rank, (rank + 1) % ranks]);

// The control point that makes a quadratic curve follow the circle, a little inside.
function inside(middle: Point, share: number) {
  return (from: Point, to: Point): Point => {
    const half = {x: (from.x + to.x) / 2, y: (from.y + to.y) / 2};
    return {x: half.x + (half.x - middle.x) * share, y: half.y + (half.y - middle.y) * share};
  };
}

function cards(ranks: number, cells: number, {width, height}: Size): Layout {
  const middle = {x: width / 2, y: height / 2};
  const step = (2 * Math.PI) / Math.max(ranks, 1);
  const guess = cardSize(width / 3.2, height / 3.4, cells);
  const rx = (width - guess.width) / 2 - 8, ry = (height - guess.height) / 2 - 8;
  const wide = Math.min(rx, ry * 1.75); // an ellipse: pictures are wider than high
  const places: Place[] = Array.from({length: ranks}, (_, rank) => ({
    rank, cells: all(cells),
    at: {x: middle.x + wide * Math.sin(rank * step), y: middle.y - ry * Math.cos(rank * step)},
  }));
  const glyph = fit(places, guess);
  return {places, glyph, links: links(ranks), regions: [], bend: inside(middle, ranks > 4 ? 0.1 : 0.02), placeOf: rank => rank};
}

// Smaller, until no two cards overlap.
function fit(places: Place[], guess: Size): Size {
  let {width, height} = guess;
  const overlap = () => places.some((a, i) => places.slice(i + 1).some(b =>
    Math.abs(a.at.x - b.at.x) < width + 26 && Math.abs(a.at.y - b.at.y) < height + 14));
  while (width > 30 && overlap()) width *= 0.94, height = Math.max(height * 0.97, 40);
  return {width, height};
}

function spokes(ranks: number, cells: number, {width, height}: Size): Layout {
  const middle = {x: width / 2, y: height / 2};
  const outer = Math.min(width, height) / 2 - 20;
  const inner = outer * (ranks > 24 ? 0.56 : 0.52);
  const radius = (inner + outer) / 2;
  const step = 360 / ranks;
  const places: Place[] = Array.from({length: ranks}, (_, rank) => {
    const angle = (rank * step * Math.PI) / 180;
    return {rank, cells: all(cells), turn: rank * step,
            at: {x: middle.x + radius * Math.sin(angle), y: middle.y - radius * Math.cos(angle)}};
  });
  const glyph = {width: Math.max((2 * Math.PI * inner / ranks) * 0.86, 2), height: outer - inner};
  // Messages fly on the inner side, where there is room.
  const bend = (from: Point, to: Point) => inside(middle, -0.16)(from, to);
  return {places, glyph, links: [], regions: [], bend, placeOf: rank => rank};
}
