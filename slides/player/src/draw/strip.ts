// A strip of frames: what paper shows instead of an animation.
import type {View} from '../layout/views.ts';
import {layoutOf, viewsFor} from '../layout/views.ts';
import {Timeline} from '../model/timeline.ts';
import {timeText} from '../model/units.ts';
import {Lanes} from './lanes.ts';
import {Stage} from './stage.ts';

const frames = 6;

// `timeline` stays unchanged: a strip has its own.
export function drawStrip({trace}: Timeline, view: View | 'auto'): HTMLElement[] {
  const timeline = new Timeline(trace);
  const size = {width: 420, height: 236};
  const figures = frameTimes(timeline).map(time => {
    const state = timeline.at(time);
    const act = timeline.acts[state.act]!;
    const can = viewsFor(act, trace);
    const chosen = view !== 'auto' && can.includes(view) ? view : can[0]!;
    const stage = new Stage(timeline, act, layoutOf(chosen, act, trace, size), size);
    stage.render(state);
    return figure('frame', timeText(time, trace.duration), stage.ranks, stage.messages);
  });
  const lanes = new Lanes(trace, {width: 900, height: Math.min(Math.max(trace.ranks * 14, 80), 320)});
  return [...figures, figure('lanes-frame', 'all ranks over time', lanes.element)];
}

// The first and the last moment, and between them moments at which messages are in flight, because these show
// more.
function frameTimes(timeline: Timeline): number[] {
  const {moments, trace} = timeline;
  const middles = moments.slice(1).map((moment, i) => (moment + moments[i]!) / 2);
  const busy = middles.filter(time => timeline.at(time).flights.length > 0);
  const count = Math.min(frames - 2, busy.length);
  const chosen = Array.from({length: count}, (_, i) => busy[Math.floor(((i + 0.5) * busy.length) / count)]!);
  return [0, ...chosen, trace.duration];
}

function figure(kind: string, caption: string, ...pictures: Element[]): HTMLElement {
  const element = document.createElement('figure');
  element.className = kind;
  const words = document.createElement('figcaption');
  words.textContent = caption;
  const box = document.createElement('div');
  box.append(...pictures);
  element.append(box, words);
  return element;
}
