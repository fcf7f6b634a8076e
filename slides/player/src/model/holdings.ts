// Holdings: which ranks' contributions each rank has in each cell, as a list of changes in the order of time.
import type {Cells} from './cells.ts';
import type {Operation} from './operations.ts';
import {includes, type RankSet} from './ranks.ts';

export interface Change {
  at: number;
  rank: number;
  cell: number;
  ranks: RankSet;
}

export interface Holdings {
  initial: RankSet[][]; // [rank][cell]
  changes: Change[];
  complete: number; // the number of all contributions that a cell can have
}

type Happening = {at: number; order: number; apply: () => void};

export function holdingsOf(operation: Operation, cells: Cells, ranks: number): Holdings {
  const initial = initially(operation, cells, ranks);
  const held = initial.map(row => row.slice());
  const changes: Change[] = [];
  const set = (at: number, rank: number, cell: number, has: RankSet) => {
    if (held[rank]![cell]!.length === has.length && includes(held[rank]![cell]!, has)) return;
    held[rank]![cell] = has;
    changes.push({at, rank, cell, ranks: has});
  };
  // A message replaces what is there when it contains all of that and more; otherwise it will be added, which a
  // reduction event shows. A send shows that its sender has what it sends.
  const gets = (at: number, rank: number, event: {offset: number; bytes: number; contributors: RankSet}) => {
    for (const cell of cells.of(event)) {
      const what = operation.kind === 'parts' ? [cell] : event.contributors;
      if (includes(what, held[rank]![cell]!)) set(at, rank, cell, what);
    }
  };
  const happenings: Happening[] = [];
  for (const message of operation.messages) {
    if (message.contributors.length === 0) continue;
    happenings.push({at: message.begin, order: 2, apply: () => gets(message.begin, message.src, message)});
    const arrive = message.arrive;
    if (arrive !== null) happenings.push({at: arrive, order: 0, apply: () => gets(arrive, message.dst, message)});
  }
  for (const reduction of operation.reductions) {
    happenings.push({at: reduction.at, order: 1, apply: () => {
      for (const cell of cells.of(reduction)) {
        if (operation.kind === 'parts') set(reduction.at, reduction.rank, cell, [cell]);
        else if (reduction.contributors.length > 0) set(reduction.at, reduction.rank, cell, reduction.contributors);
      }
    }});
  }
  for (const happening of happenings.sort((a, b) => a.at - b.at || a.order - b.order)) happening.apply();
  return {initial, changes, complete: operation.kind === 'sum' ? operation.ranks.length : 1};
}

// At first, every rank has its own term of a sum, the root has all of a copy, and every rank knows its own part.
function initially(operation: Operation, cells: Cells, ranks: number): RankSet[][] {
  const root = operation.messages.find(message => message.contributors.length === 1)?.contributors[0];
  return Array.from({length: ranks}, (_, rank) => cells.list.map((_, cell): RankSet => {
    if (!operation.ranks.includes(rank)) return [];
    switch (operation.kind) {
      case 'sum': return [rank];
      case 'copy': return rank === root ? [rank] : [];
      case 'parts': return rank === cell ? [rank] : [];
    }
  }));
}
