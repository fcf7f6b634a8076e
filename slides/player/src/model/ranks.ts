// Sets of ranks: ascending lists without repetition.

export type RankSet = readonly number[];

export function includes(all: RankSet, part: RankSet): boolean {
  let i = 0;
  for (const rank of part) {
    while (i < all.length && all[i]! < rank) ++i;
    if (all[i] !== rank) return false;
  }
  return true;
}

// Reads "0-3,6", as trace files write lists of ranks.
export function ranksIn(text: string): RankSet {
  return text === '' ? [] : text.split(',').flatMap(run => {
    const [first, last] = run.split('-').map(Number);
    return Array.from({length: (last ?? first!) - first! + 1}, (_, i) => first! + i);
  });
}

// "rank 3", "ranks 0, 2 and 3", "ranks 0 to 63".
export function rankWords(ranks: RankSet): string {
  if (ranks.length === 0) return 'no rank';
  if (ranks.length === 1) return `rank ${ranks[0]}`;
  return `ranks ${runs(ranks)}`;
}

// Three and more in a row as "4 to 7".
function runs(ranks: RankSet): string {
  const words: string[] = [];
  for (let i = 0; i < ranks.length;) {
    let last = i;
    while (ranks[last + 1] === ranks[last]! + 1) ++last;
    if (last - i >= 2) words.push(`${ranks[i]} to ${ranks[last]}`);
    else words.push(...ranks.slice(i, last + 1).map(String));
    i = last + 1;
  }
  const end = words.pop()!;
  return words.length === 0 ? end : `${words.join(', ')} and ${end}`;
}
