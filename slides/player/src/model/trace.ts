// What `./distlab trace FILE --format player` writes (lib/tools/drawing/player_json.h), checked. Times are picoseconds.
import {type RankSet, ranksIn} from './ranks.ts';

export interface Call {
  rank: number;
  begin: number;
  end: number;
  name: string;
  algorithm: string;
  where: string; // "train.cpp:41", or empty
  bytes: number;
  in_shared_memory: boolean;
  group: number;
  sequence: number;
  ending: 'done' | 'failed' | 'cut off';
}

export interface Message {
  id: number;
  src: number;
  dst: number;
  begin: number;
  arrive: number | null; // null: no rank received it
  bytes: number;
  contributors: RankSet; // [] when not known
  offset: number; // -1: it is not part of the operation's tensor
  name: string;
  group: number;
  sequence: number;
}

export interface Reduction {
  rank: number;
  at: number;
  bytes: number;
  contributors: RankSet; // after it
  offset: number;
}

export interface Span {
  rank: number;
  begin: number;
  end: number;
}

export interface Party {
  rank: number;
  doing: string;
  where: string;
  waits_for: number[];
}

export interface Finding {
  code: string; // "D1"
  title: string;
  what: string;
  mend: string;
  parties: Party[];
}

export interface Trace {
  title: string;
  ranks: number;
  ranks_per_node: number; // 0: not known
  virtual_time: boolean;
  duration: number;
  calls: Call[];
  messages: Message[];
  reductions: Reduction[];
  waits: Span[];
  computes: (Span & {name: string})[];
  findings: Finding[];
}

const format = 'distlab player 2';
const lists = ['calls', 'messages', 'reductions', 'waits', 'computes', 'findings'] as const;

// Throws an Error whose message is for the person who looks at the page.
export function parseTrace(text: string): Trace {
  let json: Partial<Trace> & {format?: unknown};
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('This is not JSON, or it was cut short. `./distlab trace FILE --format player` writes a trace.');
  }
  if (json?.format !== format) {
    throw new Error(`This is not a trace for the player: its format is ${JSON.stringify(json?.format)}, not "${format}".`);
  }
  for (const key of lists) {
    if (!Array.isArray(json[key])) throw new Error(`The trace has no list "${key}".`);
  }
  if (!Number.isInteger(json.ranks) || json.ranks! < 0) throw new Error('The trace does not say how many ranks there are.');
  const trace = json as Trace;
  nameContributors([...trace.messages, ...trace.reductions]);
  const strangers = [...trace.calls, ...trace.waits, ...trace.reductions, ...trace.computes]
    .map(event => event.rank)
    .concat(trace.messages.flatMap(message => [message.src, message.dst]))
    .find(rank => !(rank >= 0 && rank < trace.ranks));
  if (strangers !== undefined) throw new Error(`The trace names rank ${strangers}, but has ${trace.ranks} ranks.`);
  return withoutLongWait(trace);
}

// The file has texts. Equal lists become one list, because a large ring has thousands of them.
function nameContributors(events: {contributors: RankSet | string}[]) {
  const known = new Map<string, RankSet>();
  for (const event of events) {
    const text = `${event.contributors}`;
    let ranks = known.get(text);
    if (!ranks) known.set(text, ranks = ranksIn(text));
    event.contributors = ranks;
  }
}

// Ranks that wait for each other do so until a timeout, thousands of times as long as all that happened before.
// Most of that wait is cut off, so that the rest can be seen.
function withoutLongWait(trace: Trace): Trace {
  const happened = [...trace.messages.flatMap(({begin, arrive}) => [begin, arrive ?? begin]), ...trace.reductions.map(({at}) => at),
                    ...trace.computes.map(({end}) => end), ...trace.calls.flatMap(({begin, end}) => [begin, end])];
  const last = Math.max(1000, ...happened.filter(time => time < trace.duration));
  if (trace.findings.length === 0 || trace.duration < 10 * last) return trace;
  const duration = last * 1.4;
  const cut = <Event extends Span>(events: Event[]) => events.map(event => ({...event, end: Math.min(event.end, duration)}));
  return {...trace, duration, calls: cut(trace.calls), waits: cut(trace.waits)};
}
