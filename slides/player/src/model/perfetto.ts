// The trace for https://ui.perfetto.dev: Chrome's trace event format, with a thread for what each rank does and
// one for what it sends.
import type {Trace} from './trace.ts';

export function toChromeJson(trace: Trace): string {
  const us = (picoseconds: number) => picoseconds / 1e6;
  const process = 1;
  const lane = (rank: number) => rank * 2 + 1;
  const events: object[] = [];
  const slice = (tid: number, begin: number, end: number, name: string, args: object) =>
    events.push({ph: 'X', pid: process, tid, ts: us(begin), dur: us(end - begin), name, args});
  for (let rank = 0; rank < trace.ranks; ++rank) {
    for (const [tid, name] of [[lane(rank), `rank ${rank}`], [lane(rank) + 1, `rank ${rank} sends`]]) {
      events.push({ph: 'M', pid: process, tid, name: 'thread_name', args: {name}});
      events.push({ph: 'M', pid: process, tid, name: 'thread_sort_index', args: {sort_index: tid}});
    }
  }
  for (const call of trace.calls) {
    slice(lane(call.rank), call.begin, call.end, [call.name, call.algorithm].filter(Boolean).join(' '),
          {where: call.where, bytes: call.bytes});
  }
  for (const wait of trace.waits) slice(lane(wait.rank), wait.begin, wait.end, 'wait', {});
  for (const compute of trace.computes) slice(lane(compute.rank), compute.begin, compute.end, compute.name, {});
  trace.messages.forEach(({src, dst, begin, arrive, bytes, contributors, offset}, id) => {
    slice(lane(src) + 1, begin, arrive ?? trace.duration, `to ${dst}`, {bytes, contributors, offset});
    if (arrive === null) return;
    const flow = {pid: process, name: 'message', cat: 'message', id};
    events.push({...flow, ph: 's', tid: lane(src) + 1, ts: us(begin)}, {...flow, ph: 'f', bp: 'e', tid: lane(dst), ts: us(arrive)});
  });
  return JSON.stringify({otherData: {title: trace.title}, displayTimeUnit: 'ns', traceEvents: events});
}
