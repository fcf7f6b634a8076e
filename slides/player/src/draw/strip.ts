// A strip of frames: what paper shows instead of an animation.
import type {View} from '../layout/views.ts';
import {layoutOf, viewsFor} from '../layout/views.ts';
import {Timeline} from '../model/timeline.ts';
import {timeText} from '../model/units.ts';
import {Lanes} from './lanes.ts';
import {Stage} from './stage.ts';

const frames = 6;

// `timeline` is not touched: a strip has its own.
export function drawStrip({trace}: Timeline, view: View | 'auto'): HTMLElement[] {
  const timeline = new Timeline(trace);
  const size = {width: 420, height: 300};
  const figures = Array.from({length: frames}, (_, i) => {
    const time = frameTime(timeline, i / (frames - 1));
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

// In flight, messages tell more than at the moments: in the middle between two of them. The first and last as they are.
function frameTime({trace, moments}: Timeline, share: number): number {
  if (share === 0 || share === 1) return share * trace.duration;
  const i = Math.min(Math.floor(share * (moments.length - 1)), moments.length - 2);
  return (moments[i]! + (moments[i + 1] ?? trace.duration)) / 2;
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
