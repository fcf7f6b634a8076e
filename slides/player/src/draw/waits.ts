// Which rank waits for which, where a finding says so: red arrows between the ranks.
import {edge, type Layout} from '../layout/layout.ts';
import type {Trace} from '../model/trace.ts';
import {svg} from './svg.ts';

export function drawWaits(trace: Trace, layout: Layout): SVGGElement {
  const arrows = trace.findings.flatMap(({parties}) => parties.flatMap(party =>
    party.waits_for.filter(rank => rank >= 0 && rank < trace.ranks).map(rank => arrow(layout, party.rank, rank))));
  const head = svg('marker', {id: 'head', viewBox: '0 0 10 10', refX: 8, refY: 5, markerWidth: 5, markerHeight: 5, orient: 'auto'},
                   svg('path', {d: 'M0 0 L10 5 L0 10 Z', class: 'arrow-head'}));
  return svg('g', {class: 'waits'}, svg('defs', {}, head), ...arrows);
}

function arrow(layout: Layout, waiting: number, awaited: number): SVGElement {
  const [from, to] = [waiting, awaited].map(rank => layout.places[layout.placeOf(rank)]!.at);
  const [start, end] = [edge(from!, to!, layout.glyph), edge(to!, from!, layout.glyph, 4)];
  const bend = layout.bend(start, end);
  return svg('path', {d: `M${start.x} ${start.y} Q${bend.x} ${bend.y} ${end.x} ${end.y}`, class: 'arrow', 'marker-end': 'url(#head)',
                      'data-waits': `${waiting}-${awaited}`});
}
