// Cells: the pieces of an operation that are drawn as one little box at each rank.
import type {Operation} from './operations.ts';

export interface Cell {
  label: string; // "chunk 2", "part of rank 3"
  short: string; // "2"
  from: number; // bytes of the tensor; of parts: the rank
  to: number;
}

export interface Cells {
  list: Cell[];
  // The cells that these bytes fill, or that show these ranks' parts.
  of(event: {offset: number; bytes: number; contributors: readonly number[]}): number[];
}

const most = 64; // more could not be told apart

export function cellsOf(operation: Operation, ranks: number): Cells {
  return operation.kind === 'parts' ? partCells(ranks) : chunkCells(edgesOf(operation));
}

function partCells(ranks: number): Cells {
  const list = Array.from({length: ranks}, (_, rank) =>
    ({label: `the part of rank ${rank}`, short: `${rank}`, from: rank, to: rank + 1}));
  return {list, of: ({contributors}) => [...contributors]};
}

// Where a message or a reduction begins or ends in the tensor.
function edgesOf(operation: Operation): number[] {
  const edges = new Set([0]);
  for (const {offset, bytes} of [...operation.messages, ...operation.reductions]) {
    if (offset >= 0 && bytes > 0) edges.add(offset).add(offset + bytes);
  }
  if (edges.size === 1) edges.add(Math.max(operation.bytes, 1));
  const sorted = [...edges].sort((a, b) => a - b);
  if (sorted.length - 1 <= most) return sorted;
  const end = sorted.at(-1)!;
  return Array.from({length: most + 1}, (_, i) => Math.round(end * i / most));
}

function chunkCells(edges: number[]): Cells {
  const list = edges.slice(1).map((to, i) => ({label: `chunk ${i}`, short: `${i}`, from: edges[i]!, to}));
  const of = ({offset, bytes}: {offset: number; bytes: number}) => {
    if (offset < 0 || bytes === 0) return [];
    const middle = (cell: Cell) => (cell.from + cell.to) / 2;
    const filled = list.flatMap((cell, i) => offset <= middle(cell) && middle(cell) < offset + bytes ? [i] : []);
    if (filled.length > 0) return filled;
    const around = list.findIndex(cell => offset < cell.to); // it is smaller than half a cell
    return around < 0 ? [] : [around];
  };
  return {list, of};
}
