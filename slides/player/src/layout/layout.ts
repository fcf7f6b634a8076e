// Layouts: where the ranks are in a picture, and the paths between them. Units are pixels of the stage.
import type {Message} from '../model/trace.ts';

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

// A rank as it is drawn. A rank may have two places, each with some of the cells (a double tree).
export interface Place {
  rank: number;
  at: Point; // the middle
  // Degrees clockwise from pointing up, in which its cells are stacked away from the middle of a crowded ring;
  // undefined: an upright card.
  turn?: number;
  cells: number[];
}

export interface Region {
  label: string;
  corner: {right: boolean; bottom: boolean}; // where the label stands
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  places: Place[];
  glyph: Size; // of each place
  links: [number, number][]; // indices of places that are joined by a thin line
  regions: Region[]; // nodes, the two trees: with a frame and a name
  bend: (from: Point, to: Point) => Point; // the control point of the curve that a message flies
  placeOf: (rank: number, message?: Message) => number;
}

export const straight = (from: Point, to: Point): Point => ({x: (from.x + to.x) / 2, y: (from.y + to.y) / 2});

// On the right-hand side of the straight path, so that two messages that fly towards each other do not meet.
export function keepRight(from: Point, to: Point, share = 0.12): Point {
  const middle = straight(from, to);
  return {x: middle.x - (to.y - from.y) * share, y: middle.y + (to.x - from.x) * share};
}

export function along(from: Point, bend: Point, to: Point, progress: number): Point {
  const rest = 1 - progress;
  const at = (a: number, b: number, c: number) => rest * rest * a + 2 * rest * progress * b + progress * progress * c;
  return {x: at(from.x, bend.x, to.x), y: at(from.y, bend.y, to.y)};
}

// The largest size that the gap between places allows, for a card with this many cells. A low one has its name
// beside the cells.
export function cardSize(gapX: number, gapY: number, cells: number): Size {
  const height = Math.max(Math.min(gapY * 0.74, 168), 8);
  const name = height < low_card ? 70 : 0;
  const width = Math.max(Math.min(gapX * 0.86, Math.max(100 + name, Math.min(cells, 12) * 50 + 24 + name), 330), 5);
  return {width, height: Math.max(Math.min(height, width * 1.3), 8)};
}

export const low_card = 66;

// The point where the path from the middle of one card to another leaves the first card, a little outside of it.
export function edge(from: Point, to: Point, {width, height}: Size, outside = 0): Point {
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1;
  const inside = Math.min(width / 2 / Math.max(Math.abs(dx), 1e-9), height / 2 / Math.max(Math.abs(dy), 1e-9));
  const share = Math.min(inside + outside / length, 0.45);
  return {x: from.x + dx * share, y: from.y + dy * share};
}
