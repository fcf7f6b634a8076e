// How the contents of a cell or a message are drawn: a stripe for each rank that has contributed, at that rank's
// height, in its colour; a complete sum in a colour of its own, with a sign.
import type {RankSet} from '../model/ranks.ts';
import {fillOf, most_colours, rankColour} from './palette.ts';
import {svg} from './svg.ts';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

// `ranks`: in the world; `complete`: this many contributions make a whole.
export interface Scale {
  ranks: number;
  complete: number;
}

export function drawLoad(box: Box, has: RankSet, {ranks, complete}: Scale): SVGElement[] {
  const {x, y, width, height} = box;
  const whole = complete > 1 && has.length >= complete;
  const striped = complete > 1 && ranks <= most_colours && !whole && has.length > 0;
  const drawn: SVGElement[] = [svg('rect', {
    x, y, width, height, rx: Math.min(2.5, width / 5), class: 'box',
    fill: striped ? 'var(--empty)' : fillOf(has, complete, ranks),
  })];
  if (striped) {
    const stripe = height / ranks;
    for (const rank of has) {
      drawn.push(svg('rect', {x: x + 0.5, y: y + rank * stripe + 0.25, width: width - 1, height: Math.max(stripe - 0.5, 0.5),
                              fill: rankColour(rank, ranks)}));
    }
  }
  if (whole && width > 11 && height > 11) {
    drawn.push(svg('text', {x: x + width / 2, y: y + height / 2, class: 'sign', 'font-size': Math.min(width, height, 24) * 0.8}, 'Σ'));
  }
  return drawn;
}
