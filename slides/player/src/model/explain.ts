// Explanations: what a user hears or reads about a moment, a message or a rank.
import {rankWords} from './ranks.ts';
import type {Act, State, Timeline} from './timeline.ts';
import type {Message} from './trace.ts';
import {bytesText, timeText} from './units.ts';

export function operationText({operation}: Act): string {
  const {name, algorithm, bytes, where} = operation;
  if (name === 'nothing') return 'nothing happens';
  const size = name === 'messages' ? '' : `, ${bytesText(bytes)} a rank`;
  return `${name}${algorithm ? ` by ${algorithm}` : ''}${size}${where ? `, at ${where}` : ''}`;
}

// What is in it: "chunk 2, with the parts of ranks 0 and 3".
export function loadText(message: Message, act: Act): string {
  const cells = act.cells.of(message);
  const {contributors} = message;
  if (act.operation.kind === 'parts') return contributors.length > 0 ? partsText(contributors) : bytesText(message.bytes);
  const chunk = cells.length === 0 ? bytesText(message.bytes)
    : cells.length === act.cells.list.length ? 'all of it'
    : cells.length === 1 ? act.cells.list[cells[0]!]!.label
    : `chunks ${cells[0]} to ${cells.at(-1)}`;
  if (act.operation.kind === 'copy' || contributors.length === 0) return chunk;
  if (contributors.length === act.operation.ranks.length) return `${chunk}, the complete sum`;
  return `${chunk}, with ${partsText(contributors)}`;
}

const partsText = (contributors: readonly number[]) =>
  `the ${contributors.length === 1 ? 'part' : 'parts'} of ${rankWords(contributors)}`;

// Lines of text, the first a headline.
export function messageLines(message: Message, act: Act, duration: number): string[] {
  const {src, dst, begin, arrive, bytes, offset} = message;
  const time = (at: number) => timeText(at, duration);
  return [
    `rank ${src} → rank ${dst}: ${bytesText(bytes)}`,
    loadText(message, act),
    ...(offset >= 0 && act.operation.name !== 'messages' ? [`bytes ${offset} to ${offset + bytes} of the tensor`] : []),
    arrive === null ? `sent at ${time(begin)}; no rank has received it`
                    : `sent at ${time(begin)}, there after ${timeText(arrive - begin)}`,
    operationText(act),
  ];
}

export function rankLines(rank: number, state: State, timeline: Timeline): string[] {
  const act = timeline.acts[state.act]!;
  const stuck = timeline.trace.findings.flatMap(finding => finding.parties).find(party => party.rank === rank);
  const lines = [`rank ${rank}: ${state.doing[rank]}`, heldText(rank, state, act)];
  const call = timeline.trace.calls.findLast(({rank: of, begin, end}) => of === rank && begin <= state.time && state.time <= end);
  if (call) lines.push(`in ${call.name}${call.algorithm ? ` by ${call.algorithm}` : ''}${call.where ? ` at ${call.where}` : ''}`);
  if (call?.ending === 'failed') lines.push('it ended with an error');
  if (call?.ending === 'cut off') lines.push('it never ended: the rank was gone first');
  if (call?.in_shared_memory) lines.push('by shared memory: the ranks read and write each other, nothing is sent');
  if (stuck) lines.push(`${stuck.doing}, waits for ${rankWords(stuck.waits_for)}`);
  return lines;
}

function heldText(rank: number, state: State, {operation, cells, holdings}: Act): string {
  const row = state.held[rank] ?? [];
  const full = row.filter(ranks => ranks.length >= holdings.complete).length;
  switch (operation.kind) {
    case 'sum': return `${full} of ${cells.list.length} chunks are complete sums`;
    case 'copy': return `has ${full} of ${cells.list.length} chunks`;
    case 'parts': return `has heard of ${full} of ${cells.list.length} ranks`;
  }
}

export function cellLines(rank: number, cell: number, state: State, {operation, cells, holdings}: Act): string[] {
  const {label, from, to} = cells.list[cell]!;
  const has = state.held[rank]?.[cell] ?? [];
  const what = has.length === 0 ? 'not here yet'
    : operation.kind !== 'sum' ? `from ${rankWords(has)}`
    : has.length >= holdings.complete ? 'the complete sum'
    : `${partsText(has)}: ${has.length} of ${holdings.complete}`;
  return [`rank ${rank}, ${label}: ${what}`, ...(operation.kind === 'parts' ? [] : [`bytes ${from} to ${to}`])];
}

// For a screen reader: what happens at this time, the most important first, and not more than one can listen to.
export function momentText(state: State, timeline: Timeline): string {
  const {trace} = timeline;
  const act = timeline.acts[state.act]!;
  const parts: string[] = [`At ${timeText(state.time, trace.duration)}.`];
  const here = trace.messages.filter(({arrive}) => arrive === state.time);
  const gone = trace.messages.filter(({begin}) => begin === state.time);
  const summed = trace.reductions.filter(({at}) => at === state.time);
  const list = (messages: Message[], verb: string) => messages.slice(0, 4).map(message =>
    `Rank ${message.src} ${verb} rank ${message.dst}: ${loadText(message, act)}.`).join(' ') +
    (messages.length > 4 ? ` And ${messages.length - 4} more.` : '');
  if (here.length > 0) parts.push(list(here, 'has reached'));
  if (summed.length > 0) parts.push(`${capital(rankWords([...new Set(summed.map(({rank}) => rank))].sort((a, b) => a - b)))} added what came.`);
  if (gone.length > 0) parts.push(list(gone, 'sends to'));
  if (state.time >= trace.duration) parts.push(endText(state, timeline));
  return parts.join(' ');
}

export function endText(state: State, timeline: Timeline): string {
  const [finding] = timeline.trace.findings;
  if (finding) return `The end: ${finding.code} ${finding.title}. ${finding.what}`;
  const act = timeline.acts[state.act]!;
  const ranks = act.operation.ranks;
  const done = ranks.filter(rank => state.held[rank]!.every(held => held.length >= act.holdings.complete));
  if (act.operation.kind === 'sum' && done.length > 0) return `The end: ${rankWords(done)} ${done.length === 1 ? 'has' : 'have'} the complete sum.`;
  return 'The end.';
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
