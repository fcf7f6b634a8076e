// Traces written by hand, and the ring as an algorithm would run it.
import type {Message, Trace} from '../src/model/trace.ts';

export function emptyTrace(ranks: number): Trace {
  return {title: 'a test', ranks, ranks_per_node: 0, virtual_time: true, duration: 0, calls: [], messages: [],
          reductions: [], waits: [], computes: [], findings: []};
}

export function message(src: number, dst: number, begin: number, arrive: number | null, more: Partial<Message> = {}): Message {
  return {id: 0, src, dst, begin, arrive, bytes: 4, contributors: [src], offset: -1, name: 'send', group: 0, sequence: 0, ...more};
}

export function collective(ranks: number, name: string, algorithm: string, duration: number, bytes: number): Trace {
  const trace = {...emptyTrace(ranks), duration};
  for (let rank = 0; rank < ranks; ++rank) {
    trace.calls.push({rank, begin: 0, end: duration, name, algorithm, where: 'train.cpp:41', bytes, in_shared_memory: false,
                      group: 0, sequence: 0, ending: 'done'});
  }
  return trace;
}

const mod = (a: number, n: number) => ((a % n) + n) % n;

// Ring all-reduce of n chunks of 4 bytes: a step takes 10, the first 8 the message, the last 2 the addition.
export function ringAllReduce(n: number): Trace {
  const steps = 2 * (n - 1);
  const trace = collective(n, 'all_reduce', 'ring', steps * 10, 4 * n);
  const all = Array.from({length: n}, (_, rank) => rank);
  for (let step = 0; step < steps; ++step) {
    const isSum = step < n - 1;
    for (let rank = 0; rank < n; ++rank) {
      const chunk = mod(rank - step - 1, n);
      const has = isSum ? all.slice(0, step + 1).map(i => mod(rank - i, n)).sort((a, b) => a - b) : all;
      const to = mod(rank + 1, n);
      trace.messages.push(message(rank, to, step * 10, step * 10 + 8,
                                  {contributors: has, offset: chunk * 4, name: 'all_reduce'}));
      if (isSum) {
        trace.reductions.push({rank: to, at: step * 10 + 10, bytes: 4, offset: chunk * 4,
                               contributors: [...has, to].sort((a, b) => a - b)});
      }
    }
  }
  return trace;
}

// Rank 0 tells 2 and then 1, 2 tells 3: [from, to, time].
export function broadcastTree(): Trace {
  const trace = collective(4, 'broadcast', 'binomial', 20, 8);
  for (const [src, dst, begin] of [[0, 2, 0], [0, 1, 10], [2, 3, 10]] as const) {
    trace.messages.push(message(src, dst, begin, begin + 10, {contributors: [0], offset: 0, bytes: 8, name: 'broadcast'}));
  }
  return trace;
}
