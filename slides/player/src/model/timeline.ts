// Timeline: the state of all ranks and messages at any time. It is pure; when it is asked for later and later
// times, it works incrementally.
import {cellsOf, type Cells} from './cells.ts';
import {holdingsOf, type Holdings} from './holdings.ts';
import {operationsOf, type Operation} from './operations.ts';
import type {RankSet} from './ranks.ts';
import type {Message, Span, Trace} from './trace.ts';

export interface Act {
  operation: Operation;
  cells: Cells;
  holdings: Holdings;
}

export interface Flight {
  message: Message;
  progress: number; // 0: leaves, 1: is there; 0 forever when no rank receives it
}

export type Doing = 'idle' | 'in a call' | 'waiting' | 'computing';

export interface State {
  time: number;
  act: number; // the operation that is shown
  held: readonly (readonly RankSet[])[]; // [rank][cell]
  flights: Flight[];
  doing: Doing[]; // of each rank
}

export class Timeline {
  readonly acts: Act[];
  readonly moments: number[];
  private held: RankSet[][] = [];
  private applied = 0; // changes of the act
  private act = -1;

  constructor(readonly trace: Trace) {
    const operations = operationsOf(trace);
    if (operations.length === 0) operations.push(nothing(trace.ranks));
    this.acts = operations.map(operation => {
      const cells = cellsOf(operation, trace.ranks);
      return {operation, cells, holdings: holdingsOf(operation, cells, trace.ranks)};
    });
    this.moments = momentsOf(trace);
  }

  at(time: number): State {
    const act = this.actAt(time);
    this.hold(act, time);
    return {time, act, held: this.held, flights: this.flightsAt(time), doing: this.doingAt(time)};
  }

  // The operation of a message; the shown one if it belongs to none.
  actOf(message: Message): Act {
    return this.acts.find(({operation}) => operation.messages.includes(message)) ?? this.acts[0]!;
  }

  // The next moment after `time`, or the last one before it; the end or the beginning of the trace when there is
  // none.
  after(time: number): number {
    return this.moments.find(moment => moment > time) ?? this.trace.duration;
  }
  before(time: number): number {
    return this.moments.findLast(moment => moment < time) ?? 0;
  }

  // The last operation that has begun and has not ended: a later one covers an earlier one. In a pause, the last
  // of all.
  private actAt(time: number): number {
    const goesOn = this.acts.findLastIndex(({operation: {begin, end}}) => begin <= time && time <= end);
    return Math.max(goesOn >= 0 ? goesOn : this.acts.findLastIndex(({operation}) => operation.begin <= time), 0);
  }

  private hold(act: number, time: number) {
    const {initial, changes} = this.acts[act]!.holdings;
    const isAnother = act !== this.act;
    if (isAnother || (this.applied > 0 && changes[this.applied - 1]!.at > time)) {
      this.held = initial.map(row => row.slice());
      this.act = act;
      this.applied = 0;
    }
    for (; this.applied < changes.length && changes[this.applied]!.at <= time; ++this.applied) {
      const {rank, cell, ranks} = changes[this.applied]!;
      this.held[rank]![cell] = ranks;
    }
  }

  private flightsAt(time: number): Flight[] {
    const flights: Flight[] = [];
    for (const message of this.trace.messages) {
      if (message.begin > time) continue;
      if (message.arrive === null) flights.push({message, progress: 0});
      else if (time < message.arrive)
        flights.push({message, progress: (time - message.begin) / (message.arrive - message.begin)});
    }
    return flights;
  }

  private doingAt(time: number): Doing[] {
    const doing = Array<Doing>(this.trace.ranks).fill('idle');
    const mark = (spans: Span[], what: Doing) => {
      for (const {rank, begin, end} of spans) {
        if (begin <= time && time < end) doing[rank] = what;
      }
    };
    mark(this.trace.calls, 'in a call');
    mark(this.trace.computes, 'computing');
    mark(this.trace.waits, 'waiting');
    return doing;
  }
}

function nothing(ranks: number): Operation {
  return {name: 'nothing', algorithm: '', where: '', kind: 'parts', begin: 0, end: 0, bytes: 0,
          ranks: Array.from({length: ranks}, (_, rank) => rank), calls: [], messages: [], reductions: []};
}

// When a message arrives, leaves, or is added. Moments that cannot be told apart count as one, the last of them.
function momentsOf(trace: Trace): number[] {
  const times = [0, trace.duration, ...trace.reductions.map(({at}) => at)];
  for (const {begin, arrive} of trace.messages) times.push(begin, arrive ?? begin);
  if (trace.messages.length === 0) times.push(...trace.calls.flatMap(({begin, end}) => [begin, end]));
  times.push(...trace.computes.flatMap(({begin, end}) => [begin, end]));
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const near = trace.duration / 2000;
  return sorted.filter((time, i) => i === 0 || i === sorted.length - 1 || sorted[i + 1]! - time > near);
}
