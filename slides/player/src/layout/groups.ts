// Node groups: the ranks of one machine are together in a frame.
import {cardSize, keepRight, type Layout, type Place, type Region, type Size} from './layout.ts';

export function groups(ranks: number, perNode: number, cells: number, {width, height}: Size): Layout {
  const nodes = Math.max(Math.ceil(ranks / perNode), 1);
  const columns = bestColumns(nodes, width / height), rows = Math.ceil(nodes / columns);
  const boxX = width / columns, boxY = height / rows;
  const inColumns = bestColumns(perNode, boxX / boxY), inRows = Math.ceil(perNode / inColumns);
  const gap = 8, head = 20;
  const gapX = (boxX - 2 * gap) / inColumns, gapY = (boxY - 2 * gap - head) / inRows;
  const regions: Region[] = Array.from({length: nodes}, (_, node) => ({
    label: `node ${node}`, corner: {right: true, bottom: false}, x: (node % columns) * boxX + gap, y: Math.floor(node / columns) * boxY + gap,
    width: boxX - 2 * gap, height: boxY - 2 * gap,
  }));
  const places: Place[] = Array.from({length: ranks}, (_, rank) => {
    const {x, y} = regions[Math.floor(rank / perNode)]!;
    const local = rank % perNode;
    return {rank, cells: Array.from({length: cells}, (_, cell) => cell),
            at: {x: x + (local % inColumns + 0.5) * gapX, y: y + head + (Math.floor(local / inColumns) + 0.5) * gapY}};
  });
  const glyph = cardSize(gapX * 0.86, gapY, cells);
  return {places, glyph, links: [], regions, bend: keepRight, placeOf: rank => rank};
}

// Enough columns to make a box about square, or a little wider.
function bestColumns(count: number, aspect: number): number {
  return Math.min(Math.max(Math.round(Math.sqrt(count * aspect / 1.3)), 1), count);
}
