// Questions of the predict mode: what will a rank do next?
import {loadText} from './explain.ts';
import {grouped} from './grouped.ts';
import type {Act, Timeline} from './timeline.ts';
import type {Message} from './trace.ts';

export interface Question {
  at: number; // asked then, before the message leaves
  text: string;
  answers: string[];
  right: number; // index
  because: string;
}

const most_answers = 6;

// One for each moment at which messages leave, about a different rank each time; none where there is nothing to
// choose. In order of time.
export function questionsOf(timeline: Timeline): Question[] {
  const questions: Question[] = [];
  timeline.acts.forEach(act => {
    const leaving = grouped(act.operation.messages, message => message.begin);
    [...leaving.keys()].sort((a, b) => a - b).forEach((at, turn) => {
      const messages = leaving.get(at)!.toSorted((a, b) => a.src - b.src);
      const message = messages[(turn * 2 + 1) % messages.length]!;
      if (messages.filter(({src}) => src === message.src).length > 1) return; // which of them is "next"?
      const question = chunkQuestion(message, act) ?? peerQuestion(message, act);
      if (question) questions.push({at, ...question});
    });
  });
  return questions.sort((a, b) => a.at - b.at);
}

type Unplaced = Omit<Question, 'at'>;

function chunkQuestion(message: Message, act: Act): Unplaced | null {
  const cells = act.cells.of(message);
  if (cells.length !== 1 || act.cells.list.length < 2) return null;
  const right = cells[0]!;
  const choices = around(right, act.cells.list.length);
  return {
    text: `Which chunk does rank ${message.src} send next?`,
    answers: choices.map(cell => `chunk ${cell}`),
    right: choices.indexOf(right),
    because: `Rank ${message.src} sends rank ${message.dst} ${loadText(message, act)}.`,
  };
}

function peerQuestion(message: Message, act: Act): Unplaced | null {
  const others = act.operation.ranks.filter(rank => rank !== message.src);
  if (others.length < 2) return null;
  const position = others.indexOf(message.dst);
  const choices = around(position, others.length).map(i => others[i]!);
  return {
    text: `To which rank does rank ${message.src} send next?`,
    answers: choices.map(rank => `rank ${rank}`),
    right: choices.indexOf(message.dst),
    because: `Rank ${message.src} sends rank ${message.dst} ${loadText(message, act)}.`,
  };
}

// The numbers 0 to count - 1, or as many as there is room for, in order, with `right` among them.
function around(right: number, count: number): number[] {
  const shown = Math.min(count, most_answers);
  const first = Math.min(Math.max(right - (right * 7 % shown), 0), count - shown);
  return Array.from({length: shown}, (_, i) => first + i);
}
