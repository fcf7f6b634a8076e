// Operations: the calls of all ranks that belong together, and what moves within them.
import type {Call, Message, Reduction, Trace} from './trace.ts';

// How a rank's part of an operation is drawn:
// - sum: chunks of a tensor, each with the ranks that have been added up in it;
// - copy: chunks of a tensor that one rank has and others get;
// - parts: one part per rank, which other ranks have received or not (also of messages that belong to no
// collective).
export type Kind = 'sum' | 'copy' | 'parts';

export interface Operation {
  name: string;
  algorithm: string;
  where: string;
  kind: Kind;
  begin: number;
  end: number;
  bytes: number; // of one rank's part
  ranks: number[]; // ascending
  calls: Call[];
  messages: Message[];
  reductions: Reduction[];
}

const kinds: Record<string, Kind> = {
  all_reduce: 'sum', reduce: 'sum', reduce_scatter: 'sum',
  broadcast: 'copy', scatter: 'copy',
  gather: 'parts', all_gather: 'parts', all_to_all: 'parts', barrier: 'parts',
};

const collective = (name: string) => Object.keys(kinds).find(key => name === key || name.startsWith(`${key}_`));
const byTime = (a: Operation, b: Operation) => a.begin - b.begin || a.end - b.end;
const ascending = (ranks: Iterable<number>) => [...new Set(ranks)].sort((a, b) => a - b);

// In the order in which they began. Everything that belongs to no collective (send, recv, and so on) forms one
// operation.
export function operationsOf(trace: Trace): Operation[] {
  const found = new Map<string, Operation>();
  const of = (event: {name: string; group: number; sequence: number}): Operation => {
    const known = collective(event.name);
    const key = known ? `${event.group}/${event.sequence}/${known}` : 'messages';
    let operation = found.get(key);
    if (!operation) {
      operation = {name: known ?? 'messages', algorithm: '', where: '', kind: known ? kinds[known]! : 'parts',
                   begin: Infinity, end: 0, bytes: 0, ranks: [], calls: [], messages: [], reductions: []};
      found.set(key, operation);
    }
    return operation;
  };
  for (const call of trace.calls) addCall(of(call), call);
  for (const message of trace.messages) addMessage(of(message), message, trace.duration);
  const operations = [...found.values()].sort(byTime);
  for (const operation of operations) {
    operation.ranks = ascending([...operation.calls.map(call => call.rank),
                                 ...operation.messages.flatMap(({src, dst}) => [src, dst])]);
  }
  addReductions(operations, trace.reductions);
  return operations;
}

function addCall(operation: Operation, call: Call) {
  operation.calls.push(call);
  operation.algorithm ||= call.algorithm;
  operation.where ||= call.where;
  operation.begin = Math.min(operation.begin, call.begin);
  operation.end = Math.max(operation.end, call.end);
  operation.bytes = Math.max(operation.bytes, call.bytes);
}

function addMessage(operation: Operation, message: Message, duration: number) {
  operation.messages.push(message);
  operation.begin = Math.min(operation.begin, message.begin);
  operation.end = Math.max(operation.end, message.arrive ?? duration);
}

// A reduction belongs to the last call of its rank that contains it; without one, to the messages of that time.
function addReductions(operations: Operation[], reductions: Reduction[]) {
  for (const reduction of reductions) {
    const at = (begin: number, end: number) => begin <= reduction.at && reduction.at <= end;
    const owner = operations.findLast(({calls, name}) => name !== 'messages' &&
                    calls.some(call => call.rank === reduction.rank && at(call.begin, call.end))) ??
                  operations.findLast(({begin, end}) => at(begin, end));
    owner?.reductions.push(reduction);
  }
}
