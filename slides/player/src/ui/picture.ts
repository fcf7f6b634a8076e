// The picture of a timeline in the page: made anew when its size, the view or the operation changes.
import {Lanes} from '../draw/lanes.ts';
import {Stage} from '../draw/stage.ts';
import type {Size} from '../layout/layout.ts';
import {layoutOf, type View, viewsFor} from '../layout/views.ts';
import {cellLines, messageLines, rankLines} from '../model/explain.ts';
import type {State, Timeline} from '../model/timeline.ts';
import type {Message} from '../model/trace.ts';
import {pointIn} from './pointer.ts';

const nothing: Size = {width: -1, height: -1};

export class Picture {
  view: View | 'auto' = 'auto';
  stage: Stage | undefined;
  private lanes: Lanes | undefined;
  private act = -1;
  private built = {stage: nothing, lanes: nothing}; // the sizes it was made for

  constructor(private readonly timeline: Timeline, private readonly stageBox: HTMLElement, private readonly lanesBox: HTMLElement) {}

  // The view that is shown: the one that was asked for, if possible.
  viewOf(act: number): View {
    const can = viewsFor(this.timeline.acts[act]!, this.timeline.trace);
    return this.view !== 'auto' && can.includes(this.view) ? this.view : can[0]!;
  }

  // A page that has just been opened also reports that its size has changed.
  fits(): boolean {
    return areEqual(this.built.stage, sizeOf(this.stageBox)) && areEqual(this.built.lanes, sizeOf(this.lanesBox));
  }

  forget() {
    this.act = -1;
  }

  render(state: State) {
    if (state.act !== this.act) this.build(state.act);
    this.stage?.render(state);
    const head = this.lanesBox.querySelector<HTMLElement>('.head')!;
    if (this.lanes) head.style.transform = `translateX(${this.lanes.x(state.time)}px)`;
  }

  private build(act: number) {
    this.act = act;
    this.built = {stage: sizeOf(this.stageBox), lanes: sizeOf(this.lanesBox)};
    const size = this.built.stage;
    if (size.width === 0 || size.height === 0) return;
    const shown = this.timeline.acts[act]!;
    const layout = layoutOf(this.viewOf(act), shown, this.timeline.trace, size);
    this.stage = new Stage(this.timeline, shown, layout, size);
    this.stageBox.replaceChildren(this.stage.ranks, this.stage.messages);
    this.buildLanes();
  }

  private buildLanes() {
    this.lanesBox.querySelector('.lane-picture')?.remove();
    const size = this.built.lanes;
    this.lanes = size.height > 0 ? new Lanes(this.timeline.trace, size) : undefined;
    if (this.lanes) this.lanesBox.prepend(this.lanes.element);
  }

  // What is under the pointer, in words; empty if nothing is there.
  explain(event: PointerEvent, target: Element, state: State): string[] {
    const words = (message: Message) =>
      messageLines(message, this.timeline.actOf(message), this.timeline.trace.duration);
    const message = this.stage?.messageAt(target) ?? this.laneMessage(event, target);
    if (message) return words(message);
    const rank = target.closest('[data-rank]')?.getAttribute('data-rank');
    const cell = target.closest('[data-cell]')?.getAttribute('data-cell');
    if (rank && cell) return cellLines(Number(rank), Number(cell), state, this.timeline.acts[state.act]!);
    return rank ? rankLines(Number(rank), state, this.timeline) : [];
  }

  // The time at a point of the lanes.
  laneTime(event: PointerEvent): number | undefined {
    return this.lanes?.time(pointIn(this.lanesBox, event).x);
  }

  private laneMessage(event: PointerEvent, target: Element): Message | undefined {
    if (!target.closest('.lanes')) return undefined;
    const {x, y} = pointIn(this.lanesBox, event);
    return this.lanes?.messageAt(x, y);
  }
}

const sizeOf = (box: HTMLElement): Size => ({width: box.clientWidth, height: box.clientHeight});
const areEqual = (a: Size, b: Size) => a.width === b.width && a.height === b.height;
