// Lanes: space and time. A row per rank, time to the right; a line for each message, a bar for whatever a rank
// does.
import type {Size} from '../layout/layout.ts';
import {grouped} from '../model/grouped.ts';
import type {Message, Span, Trace} from '../model/trace.ts';
import {timeText} from '../model/units.ts';
import {most_colours, rankColour} from './palette.ts';
import {svg} from './svg.ts';

export const gutter = 34; // for the ranks' numbers
const right = 10, axis = 18;
const crowd = 24; // with more ranks, thin lines are all that can be seen

export class Lanes {
  readonly element: SVGSVGElement;
  private readonly row: number;

  constructor(private readonly trace: Trace, private readonly size: Size) {
    this.row = (size.height - axis) / Math.max(trace.ranks, 1);
    this.element = svg('svg', {class: 'lane-picture', viewBox: `0 0 ${size.width} ${size.height}`, 'aria-hidden': 'true'},
      ...this.names(), this.rails(), this.bars('call', trace.calls), this.bars('compute', trace.computes),
      ...(trace.ranks <= crowd ? [this.bars('wait', trace.waits)] : []), this.additions(), ...this.lines(), ...this.ticks());
  }

  x(time: number): number {
    return gutter + ((this.size.width - gutter - right) * time) / Math.max(this.trace.duration, 1);
  }

  time(x: number): number {
    const share = (x - gutter) / (this.size.width - gutter - right);
    return Math.min(Math.max(share, 0), 1) * this.trace.duration;
  }

  // The message whose line passes here, at most a few pixels away.
  messageAt(x: number, y: number): Message | undefined {
    let best: Message | undefined, least = 5;
    for (const message of this.trace.messages) {
      const [x1, y1, x2, y2] = this.ends(message);
      const share = Math.min(Math.max(((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / Math.max((x2 - x1) ** 2 + (y2 - y1) ** 2, 1), 0), 1);
      const away = Math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1));
      if (away < least) [best, least] = [message, away];
    }
    return best;
  }

  private y(rank: number): number {
    return (rank + 0.5) * this.row;
  }

  private ends({src, dst, begin, arrive}: Message): [number, number, number, number] {
    const still = arrive === null;
    return [this.x(begin), this.y(src), still ? Math.min(this.x(begin) + 8, this.size.width - 3) : this.x(arrive), still ? this.y(src) + (this.y(dst) - this.y(src)) * 0.4 : this.y(dst)];
  }

  private names(): SVGElement[] {
    const every = Math.max(1, Math.ceil(14 / this.row));
    return this.trace.ranks === 0 ? [] : Array.from({length: Math.ceil(this.trace.ranks / every)}, (_, i) =>
      svg('text', {class: 'lane-name', x: gutter - 8, y: this.y(i * every)}, `${i * every}`));
  }

  private rails(): SVGElement {
    const d = Array.from({length: this.trace.ranks}, (_, rank) => `M${gutter} ${this.y(rank).toFixed(1)}H${this.size.width - right}`);
    return svg('path', {class: 'rail', d: d.join('')});
  }

  // One path for all of a kind: thousands of elements would cost more than they show.
  private bars(kind: string, spans: readonly Span[]): SVGElement {
    const thick = Math.max(Math.min(this.row * (kind === 'call' ? 0.7 : 0.42), kind === 'call' ? 16 : 9), 0.8);
    const d = spans.map(({rank, begin, end}) => {
      const x = this.x(begin), width = Math.max(this.x(end) - x, 0.5), top = this.y(rank) - thick / 2;
      return `M${x.toFixed(1)} ${top.toFixed(1)}h${width.toFixed(1)}v${thick.toFixed(1)}h${(-width).toFixed(1)}z`;
    });
    return svg('path', {class: `bar ${kind}`, d: d.join('')});
  }

  private additions(): SVGElement {
    const tall = Math.min(this.row * 0.8, 12);
    const d = this.trace.reductions.map(({rank, at}) => `M${this.x(at).toFixed(1)} ${(this.y(rank) - tall / 2).toFixed(1)}v${tall.toFixed(1)}`);
    return svg('path', {class: 'addition', d: d.join('')});
  }

  // Each sender has a colour of its own as long as colours can be told apart.
  private lines(): SVGElement[] {
    const colourful = this.trace.ranks <= most_colours;
    const groups = grouped(this.trace.messages, ({src, arrive}) => arrive === null ? -1 : colourful ? src : 0);
    return [...groups].map(([key, messages]) => {
      const d = messages.map(message => {
        const [x1, y1, x2, y2] = this.ends(message).map(value => value.toFixed(1));
        return `M${x1} ${y1}L${x2} ${y2}`;
      });
      const line = svg('path', {class: key < 0 ? 'line lost' : 'line', d: d.join('')});
      if (colourful && key >= 0) line.style.stroke = rankColour(key, this.trace.ranks);
      if (this.trace.ranks > crowd) line.style.strokeWidth = '0.6';
      return line;
    });
  }

  private ticks(): SVGElement[] {
    const {duration} = this.trace, y = this.size.height - 5;
    const count = Math.max(Math.floor(this.size.width / 170), 1);
    return Array.from({length: count + 1}, (_, i) => {
      const time = (duration * i) / count;
      const anchor = i === 0 ? 'start' : i === count ? 'end' : 'middle';
      return svg('text', {class: 'tick', x: this.x(time), y, 'text-anchor': anchor}, i === 0 ? '0' : timeText(time, duration));
    });
  }
}
