// Views: the layouts by name, and which one suits an operation.
import type {Act} from '../model/timeline.ts';
import type {Trace} from '../model/trace.ts';
import {doubleTree, doubleTreeOf} from './double_tree.ts';
import {groups} from './groups.ts';
import type {Layout, Size} from './layout.ts';
import {line} from './line.ts';
import {ring} from './ring.ts';
import {tree, treeOf} from './tree.ts';

export const views = ['ring', 'tree', 'double tree', 'groups', 'line'] as const;
export type View = (typeof views)[number];

// Those that can show it, the best one first.
export function viewsFor({operation}: Act, trace: Trace): View[] {
  const {messages, algorithm} = operation;
  const isTree = treeOf(messages, trace.ranks) !== null;
  const isDouble = /double/.test(algorithm) && doubleTreeOf(messages, trace.ranks) !== null;
  const can: Record<View, boolean> = {ring: true, tree: isTree, 'double tree': isDouble, groups: trace.ranks > 2, line: true};
  const best = bestOf(algorithm, trace, isTree, isDouble, isChain(messages));
  return [best, ...views.filter(view => can[view] && view !== best)];
}

function bestOf(algorithm: string, trace: Trace, isTree: boolean, isDouble: boolean, chain: boolean): View {
  if (isDouble) return 'double tree';
  if (trace.ranks > 2 && isCycle(trace)) return 'ring';
  if (trace.ranks <= 2 || chain) return 'line';
  if (isTree) return 'tree';
  const nodes = trace.ranks_per_node > 1 && trace.ranks_per_node < trace.ranks;
  if (/hierarchical|2d/.test(algorithm) || nodes) return 'groups';
  return 'ring';
}

// Ranks that wait for each other: a ring shows that best.
function isCycle({findings}: Trace): boolean {
  return findings.some(({parties}) => parties.length > 1 && parties.every(({waits_for}) => waits_for.length > 0));
}

// Everything goes from a rank to the next one, and nothing back to the first.
function isChain(messages: readonly {src: number; dst: number}[]): boolean {
  return messages.length > 0 && messages.every(({src, dst}) => Math.abs(dst - src) === 1);
}

// `view` must be one of viewsFor().
export function layoutOf(view: View, {operation, cells}: Act, trace: Trace, size: Size): Layout {
  const count = cells.list.length;
  switch (view) {
    case 'ring': return ring(trace.ranks, count, size);
    case 'line': return line(trace.ranks, count, size);
    case 'groups': return groups(trace.ranks, perNode(trace), count, size);
    case 'tree': return tree(treeOf(operation.messages, trace.ranks)!, count, size);
    case 'double tree': return doubleTree(doubleTreeOf(operation.messages, trace.ranks)!, cells.list, size);
  }
}

// If it is not known: 8, or the largest smaller divisor, so that all groups have one size.
function perNode({ranks, ranks_per_node}: Trace): number {
  if (ranks_per_node > 0) return ranks_per_node;
  for (let size = Math.min(8, ranks - 1); size > 1; --size) {
    if (ranks % size === 0) return size;
  }
  return Math.min(ranks, 4);
}
