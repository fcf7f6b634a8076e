// The model: which rank has what at which time, without any picture.
import {describe, expect, it} from 'vitest';
import {Clock} from '../src/model/clock.ts';
import {loadText, messageLines, momentText} from '../src/model/explain.ts';
import {operationsOf} from '../src/model/operations.ts';
import {toChromeJson} from '../src/model/perfetto.ts';
import {questionsOf} from '../src/model/questions.ts';
import {includes, ranksIn, rankWords} from '../src/model/ranks.ts';
import {Timeline} from '../src/model/timeline.ts';
import {parseTrace, type Trace} from '../src/model/trace.ts';
import {bytesText, timeText} from '../src/model/units.ts';
import {broadcastTree, collective, emptyTrace, message, ringAllReduce} from './traces.ts';

const text = (trace: Trace) => JSON.stringify({format: 'distlab player 2', ...trace}, (key, value) => key === 'contributors' ? value.join() : value);

describe('ranks in a text', () => {
  it('are listed', () => expect(ranksIn('0-3,6,8-9')).toEqual([0, 1, 2, 3, 6, 8, 9]));
  it('may be one', () => expect(ranksIn('63')).toEqual([63]));
  it('may be none', () => expect(ranksIn('')).toEqual([]));
});

describe('a trace', () => {
  it('gives equal contributors as one list', () => {
    const [first, second] = parseTrace(text(ringAllReduce(3))).messages.filter(({contributors}) => contributors.length === 3);
    expect(first!.contributors).toEqual([0, 1, 2]);
    expect(first!.contributors).toBe(second!.contributors);
  });
  it('is read as it was written', () => expect(parseTrace(text(ringAllReduce(3))).messages).toHaveLength(12));
  it('that was cut short is refused', () => expect(() => parseTrace(text(ringAllReduce(3)).slice(0, 99))).toThrow('cut short'));
  it('of another format is refused', () => expect(() => parseTrace('{"traceEvents":[]}')).toThrow('not a trace for the player'));
  it('that lacks a list is refused by its name', () => {
    const {waits: _, ...rest} = emptyTrace(2);
    expect(() => parseTrace(JSON.stringify({format: 'distlab player 2', ...rest}))).toThrow('"waits"');
  });
  it('that names a rank it does not have is refused', () => {
    expect(() => parseTrace(text({...emptyTrace(2), messages: [message(0, 2, 0, 1)]}))).toThrow('rank 2, but has 2');
  });
});

describe('a wait until a timeout', () => {
  const finding = {code: 'D1', title: 'deadlock', what: '', mend: '', parties: []};
  const stuck = {...collective(2, 'all_reduce', '', 1e15, 4), messages: [message(0, 1, 0, 2000)], findings: [finding]};
  it('is cut off, where something is wrong', () => {
    const {duration, calls} = parseTrace(text(stuck));
    expect([duration, calls[0]!.end]).toEqual([2800, 2800]);
  });
  it('stays where nothing is', () => expect(parseTrace(text({...stuck, findings: []})).duration).toBe(1e15));
});

describe('sets of ranks', () => {
  it.each([[[0, 1, 2], [1], true], [[0, 2], [1], false], [[0, 2], [], true], [[], [0], false]])('%j includes %j: %j', (all, part, is) =>
    expect(includes(all, part)).toBe(is));
  it.each([[[3], 'rank 3'], [[0, 2], 'ranks 0 and 2'], [[0, 1, 2, 3], 'ranks 0 to 3'], [[0, 2, 3, 4, 9], 'ranks 0, 2 to 4 and 9']])('%j are %s', (ranks, words) =>
    expect(rankWords(ranks)).toBe(words));
});

describe('units', () => {
  it.each([[0, '0 ps'], [2_638_400, '2.64 µs'], [999, '999 ps'], [393_000_000, '393.0 µs']])('%d ps', (time, words) => expect(timeText(time)).toBe(words));
  it('of a row of times are those of the longest', () => expect(timeText(5_000, 4_000_000)).toBe('0.01 µs'));
  it.each([[1, '1 byte'], [1536, '1.5 KiB'], [2 ** 21, '2 MiB']])('%d bytes', (bytes, words) => expect(bytesText(bytes)).toBe(words));
});

describe('operations', () => {
  it('are found by group and sequence', () => {
    const trace = ringAllReduce(2);
    trace.calls.push(...collective(2, 'all_reduce', 'tree', 5, 8).calls.map(call => ({...call, sequence: 1, begin: 50, end: 60})));
    expect(operationsOf(trace).map(({algorithm}) => algorithm)).toEqual(['ring', 'tree']);
  });
  it('that are not collectives are one', () => {
    const trace = {...emptyTrace(3), messages: [message(0, 1, 0, 1), message(1, 2, 1, 2, {sequence: 4})]};
    expect(operationsOf(trace)).toMatchObject([{name: 'messages', kind: 'parts', ranks: [0, 1, 2]}]);
  });
  it('have the reductions of their ranks and times', () => expect(operationsOf(ringAllReduce(4))[0]!.reductions).toHaveLength(12));
});

describe.each([2, 3, 4, 7, 64])('a ring of %d', n => {
  const trace = ringAllReduce(n);
  const timeline = new Timeline(trace);
  const complete = (time: number) => timeline.at(time).held.flat().filter(has => has.length === n).length;

  it('begins with each rank having its own', () => {
    expect(timeline.at(-1).held.map(row => row.map(has => [...has]))).toEqual(
      Array.from({length: n}, (_, rank) => Array.from({length: n}, () => [rank])));
  });
  it('adds only when a reduction ends, not when a message arrives', () => {
    expect(timeline.at(8).held.flat().every(has => has.length === 1)).toBe(true);
    expect(timeline.at(10).held.flat().filter(has => has.length === 2)).toHaveLength(n);
  });
  it('has one complete chunk a rank in the middle, and all at the end', () => {
    expect(complete((n - 1) * 10)).toBe(n);
    expect(complete(trace.duration)).toBe(n * n);
  });
  it('is the same when time goes back', () => {
    const snapshot = (time: number) => JSON.stringify(timeline.at(time).held);
    const early = snapshot(10);
    snapshot(trace.duration);
    expect(snapshot(10)).toBe(early);
  });
  it('has n messages in flight in every step', () => {
    expect(timeline.at(4).flights.map(({progress}) => progress)).toEqual(Array(n).fill(0.5));
    expect(timeline.at(9).flights).toEqual([]);
  });
});

describe('of several operations', () => {
  const trace = {...emptyTrace(2), duration: 100, messages: [message(0, 1, 0, 10), message(1, 0, 80, 90)],
                 calls: collective(2, 'barrier', '', 0, 0).calls.map(call => ({...call, begin: 20, end: 40}))};
  const timeline = new Timeline(trace);
  const shown = (time: number) => timeline.acts[timeline.at(time).act]!.operation.name;
  it('the last that goes on is shown', () => expect([0, 20, 40, 41].map(shown)).toEqual(['messages', 'barrier', 'barrier', 'messages']));
  it('in a pause the last that has begun', () => expect(shown(95)).toBe('barrier'));
});

describe('a broadcast', () => {
  const timeline = new Timeline(broadcastTree());
  const who = (time: number) => timeline.at(time).held.flatMap((row, rank) => row[0]!.length > 0 ? [rank] : []);
  it('begins at its root', () => expect(who(0)).toEqual([0]));
  it('spreads as messages arrive', () => expect([who(10), who(19), who(20)]).toEqual([[0, 2], [0, 2], [0, 1, 2, 3]]));
});

describe('parts', () => {
  it('are known by whose they are, wherever they lie', () => {
    const trace = collective(3, 'all_gather', 'bruck', 20, 4);
    trace.messages = [message(1, 0, 0, 10, {name: 'all_gather'}), message(2, 0, 10, 20, {name: 'all_gather', contributors: [1, 2]})];
    const {held} = new Timeline(trace).at(20);
    expect(held[0]!.map(has => has.length)).toEqual([1, 1, 1]);
  });
});

describe('moments', () => {
  const timeline = new Timeline(ringAllReduce(3));
  it('are where something leaves, arrives or is added', () => expect(timeline.moments).toEqual([0, 8, 10, 18, 20, 28, 30, 38, 40]));
  it('lead on and back', () => expect([timeline.after(0), timeline.after(9), timeline.after(40), timeline.before(9), timeline.before(0)]).toEqual([8, 10, 40, 8, 0]));
  it('that cannot be told apart are one', () => {
    const trace = {...emptyTrace(2), duration: 1_000_000, messages: [message(0, 1, 10, 500_000), message(1, 0, 12, 500_003)]};
    expect(new Timeline(trace).moments).toEqual([0, 12, 500_003, 1_000_000]);
  });
});

describe('a message that no rank receives', () => {
  it('is in flight forever', () => {
    const trace = {...emptyTrace(2), duration: 100, messages: [message(0, 1, 5, null)]};
    expect(new Timeline(trace).at(100).flights).toMatchObject([{progress: 0}]);
  });
});

describe('what a rank does', () => {
  it('is its wait or computation before its call', () => {
    const trace = {...ringAllReduce(3), waits: [{rank: 1, begin: 0, end: 8}], computes: [{rank: 2, begin: 2, end: 4, name: 'forward'}]};
    expect(new Timeline(trace).at(3).doing).toEqual(['in a call', 'waiting', 'computing']);
  });
});

describe('questions', () => {
  it('ask for the chunk that is sent', () => {
    const trace = ringAllReduce(4);
    const questions = questionsOf(new Timeline(trace));
    expect(questions).toHaveLength(6);
    for (const {at, text, answers, right} of questions) {
      const src = Number(/rank (\d+)/.exec(text)![1]);
      const sent = trace.messages.find(({begin, src: from}) => begin === at && from === src)!;
      expect(answers[right]).toBe(`chunk ${sent.offset / 4}`);
    }
  });
  it('ask of more than one rank', () => {
    expect(new Set(questionsOf(new Timeline(ringAllReduce(4))).map(({text}) => text)).size).toBeGreaterThan(1);
  });
  it('ask for the receiver where there is one chunk', () => {
    const [first] = questionsOf(new Timeline(broadcastTree()));
    expect(first).toMatchObject({text: 'To which rank does rank 0 send next?', answers: ['rank 1', 'rank 2', 'rank 3'], right: 1});
  });
  it('offer six answers at most, the right one among them', () => {
    for (const {answers, right} of questionsOf(new Timeline(ringAllReduce(64)))) {
      expect(answers).toHaveLength(6);
      expect(right).toBeGreaterThanOrEqual(0);
      expect(right).toBeLessThan(6);
    }
  });
  it('are none where no rank sends', () => expect(questionsOf(new Timeline(emptyTrace(3)))).toEqual([]));
});

describe('words', () => {
  const trace = ringAllReduce(3);
  const timeline = new Timeline(trace);
  it('of a partial and of a complete sum', () => {
    const [act] = timeline.acts;
    expect(loadText(trace.messages[0]!, act!)).toBe('chunk 2, with the part of rank 0');
    expect(loadText(trace.messages.at(-1)!, act!)).toMatch(/^chunk \d, the complete sum$/);
  });
  it('of a message say who, what, when and in which call', () => {
    expect(messageLines(trace.messages[0]!, timeline.acts[0]!, trace.duration)).toEqual([
      'rank 0 → rank 1: 4 bytes', 'chunk 2, with the part of rank 0', 'bytes 8 to 12 of the tensor',
      'sent at 0 ps, there after 8 ps', 'all_reduce by ring, 12 bytes a rank, at train.cpp:41']);
  });
  it('of a moment can be listened to', () => {
    expect(momentText(timeline.at(8), timeline)).toContain('Rank 0 has reached rank 1: chunk 2, with the part of rank 0.');
    expect(momentText(timeline.at(40), timeline)).toContain('The end: ranks 0 to 2 have the complete sum.');
  });
});

describe('the clock', () => {
  it('shows the whole trace in its time', () => {
    const clock = new Clock(1000, 10);
    clock.play();
    clock.tick(clock.seconds / 2);
    expect(clock.time).toBe(500);
    clock.tick(clock.seconds);
    expect([clock.time, clock.playing]).toEqual([1000, false]);
  });
  it('stops where it was told to', () => {
    const clock = new Clock(1000, 10);
    clock.play(300);
    clock.tick(1000);
    expect([clock.time, clock.playing]).toEqual([300, false]);
  });
  it('has its slowest and its fastest speed', () => {
    const clock = new Clock(1000, 10);
    clock.faster(-9);
    expect(clock.speed).toBe(0.25);
    clock.faster(99);
    expect(clock.speed).toBe(8);
  });
  it('of a trace without any time ends at once', () => {
    const clock = new Clock(0, 1);
    clock.play();
    expect(clock.playing).toBe(false);
  });
});

describe('the file for Perfetto', () => {
  it('has a slice a call and a flow a message', () => {
    const {traceEvents} = JSON.parse(toChromeJson(ringAllReduce(3)));
    const phases = (ph: string) => traceEvents.filter((event: {ph: string}) => event.ph === ph).length;
    expect([phases('X'), phases('s'), phases('f')]).toEqual([3 + 12, 12, 12]);
  });
});
