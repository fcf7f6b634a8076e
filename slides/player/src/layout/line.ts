// A line, in several rows when there are many ranks: messages fly in arcs, to the right above, to the left below.
import {cardSize, type Layout, type Place, type Point, type Size} from './layout.ts';

export function line(ranks: number, cells: number, {width, height}: Size): Layout {
  const columns = Math.min(ranks, 16), rows = Math.ceil(ranks / columns) || 1;
  const gapX = width / Math.max(columns, 1), gapY = height / rows;
  const places: Place[] = Array.from({length: ranks}, (_, rank) => ({
    rank, cells: Array.from({length: cells}, (_, cell) => cell),
    at: {x: (rank % columns + 0.5) * gapX, y: (Math.floor(rank / columns) + 0.5) * gapY},
  }));
  const links = places.slice(1).flatMap((_, i): [number, number][] => (i + 1) % columns === 0 ? [] : [[i, i + 1]]);
  const glyph = cardSize(gapX * 0.86, gapY, cells);
  const bend = (from: Point, to: Point): Point => {
    const rise = Math.min(Math.abs(to.x - from.x) * 0.6, gapY * 0.8) * Math.sign(to.x - from.x || 1);
    return {x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 - rise};
  };
  return {places, glyph, links, regions: [], bend, placeOf: rank => rank};
}
