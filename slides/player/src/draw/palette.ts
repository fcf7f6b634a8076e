// Colours: one per rank, a ramp for "this many of all", and one for what is complete, which nothing else has.
import type {RankSet} from '../model/ranks.ts';

// Beyond this many ranks no one can tell their colours apart: cells show how many ranks have contributed, not
// which ones.
export const most_colours = 12;

// The greens are left for what is complete. Neighbours differ in lightness, too.
export function rankColour(rank: number, ranks: number): string {
  const hue = 190 + (rank * 285) / Math.max(Math.min(ranks, most_colours), 1);
  return `oklch(${rank % 2 === 0 ? 0.7 : 0.6} 0.15 ${(hue % 360).toFixed(0)})`;
}

// For a cell that is filled by one colour.
export function fillOf(has: RankSet, complete: number, ranks: number): string {
  if (has.length === 0) return 'var(--empty)';
  if (complete > 1 && has.length >= complete) return 'var(--complete)';
  if (complete === 1) return ranks <= most_colours ? rankColour(has[0]!, ranks) : 'var(--has)';
  const share = (has.length - 1) / Math.max(complete - 2, 1);
  return `color-mix(in oklch, var(--some) ${(100 * (1 - share)).toFixed(0)}%, var(--most))`;
}
