// Stage: the ranks and the messages between them, at one time. Two pictures, one over the other: ranks change now and
// then, messages in every frame.
import {along, edge, type Layout, type Point, type Size} from '../layout/layout.ts';
import type {Act, Flight, State, Timeline} from '../model/timeline.ts';
import type {Message} from '../model/trace.ts';
import {drawLoad, type Scale} from './load.ts';
import {fillOf} from './palette.ts';
import {RankGlyph} from './rank_glyph.ts';
import {svg} from './svg.ts';
import {drawWaits} from './waits.ts';

interface Way {
  from: Point;
  bend: Point;
  to: Point;
}

export class Stage {
  readonly ranks: SVGSVGElement;
  readonly messages: SVGSVGElement;
  private readonly glyphs: RankGlyph[];
  private readonly flying = new Map<Message, SVGGElement>();
  private readonly ways = new Map<Message, Way>();
  private readonly waits: SVGGElement;
  private readonly load: Size;
  private readonly scale: Scale;

  constructor(private readonly timeline: Timeline, private readonly act: Act, private readonly layout: Layout, size: Size) {
    const view = `0 0 ${size.width} ${size.height}`;
    this.scale = {ranks: timeline.trace.ranks, complete: act.holdings.complete};
    this.load = loadSize(layout);
    const labels = act.cells.list.map(cell => cell.short);
    this.glyphs = layout.places.map(place => new RankGlyph(place, layout, this.scale, labels));
    this.ranks = svg('svg', {class: 'ranks', viewBox: view, 'aria-hidden': 'true'},
                     ...this.regions(), ...this.links(), ...this.glyphs.map(glyph => glyph.element));
    this.waits = drawWaits(timeline.trace, layout);
    this.messages = svg('svg', {class: 'messages', viewBox: view, 'aria-hidden': 'true'}, this.waits);
  }

  render(state: State) {
    for (const glyph of this.glyphs) glyph.render(state);
    this.waits.classList.toggle('shown', state.time >= stuckSince(this.timeline));
    const now = new Set(state.flights.map(flight => flight.message));
    for (const [message, element] of this.flying) {
      if (now.has(message)) continue;
      element.remove();
      this.flying.delete(message);
    }
    for (const flight of state.flights) this.fly(flight);
  }

  // The message whose picture this is, or is in.
  messageAt(target: Element): Message | undefined {
    const element = target.closest('.message');
    return [...this.flying].find(([, of]) => of === element)?.[0];
  }

  private fly({message, progress}: Flight) {
    const {from, bend, to} = this.wayOf(message);
    // A message that no rank takes waits beside its sender.
    const at = along(from, bend, to, message.arrive === null ? 0.18 : ease(progress));
    this.pictureOf(message).setAttribute('transform', `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`);
  }

  private pictureOf(message: Message): SVGGElement {
    let element = this.flying.get(message);
    if (!element) {
      const {width, height} = this.load;
      const box = {x: -width / 2, y: -height / 2, width, height};
      const has = this.act.operation.messages.includes(message) ? message.contributors : [];
      const lost = message.arrive === null ? ' lost' : '';
      element = svg('g', {class: `message${lost}`}, ...(width < 8
        ? [svg('circle', {r: width / 2, fill: fillOf(has, this.scale.complete, this.scale.ranks)})]
        : [svg('rect', {x: box.x - 3, y: box.y - 3, width: width + 6, height: height + 6, rx: 5, class: 'halo'}),
           ...drawLoad(box, has, this.scale), ...this.label(message, height)]));
      this.flying.set(message, element);
      this.messages.append(element);
    }
    return element;
  }

  private label(message: Message, height: number): SVGElement[] {
    const cells = this.act.cells.of(message);
    if (this.act.operation.kind === 'parts' || cells.length !== 1 || height < 14) return [];
    return [svg('text', {class: 'cell-name', 'font-size': 13, y: height / 2 + 13}, this.act.cells.list[cells[0]!]!.short)];
  }

  private wayOf(message: Message): Way {
    let way = this.ways.get(message);
    if (!way) {
      const source = this.layout.placeOf(message.src, message), destination = this.layout.placeOf(message.dst, message);
      const from = this.door(source, destination), to = this.door(destination, source);
      way = {from, to, bend: this.layout.bend(from, to)};
      this.ways.set(message, way);
    }
    return way;
  }

  // The inner end of a spoke, where there is room, or the edge of a card.
  private door(index: number, other: number): Point {
    const {at, turn} = this.layout.places[index]!;
    if (turn === undefined) return edge(at, this.layout.places[other]!.at, this.layout.glyph, this.load.width * 0.8);
    const angle = (turn * Math.PI) / 180, inwards = this.layout.glyph.height / 2 + 9;
    return {x: at.x - inwards * Math.sin(angle), y: at.y + inwards * Math.cos(angle)};
  }

  private links(): SVGElement[] {
    const {places, links} = this.layout;
    return links.map(([a, b]) => svg('line', {class: 'link', x1: places[a]!.at.x, y1: places[a]!.at.y, x2: places[b]!.at.x, y2: places[b]!.at.y}));
  }

  private regions(): SVGElement[] {
    return this.layout.regions.map(({label, corner, x, y, width, height}) => svg('g', {class: 'region'},
      svg('rect', {x, y, width, height, rx: 12}),
      svg('text', {x: corner.right ? x + width - 12 : x + 12, y: corner.bottom ? y + height - 16 : y + 16,
                   'text-anchor': corner.right ? 'end' : 'start'}, label)));
  }
}

// It leaves and arrives gently; only at its two ends is its position exact.
const ease = (t: number) => t * t * (3 - 2 * t);

function loadSize({glyph, places}: Layout): Size {
  if (places.some(place => place.turn !== undefined)) {
    const width = Math.min(Math.max(glyph.width * 0.8, 5), 16);
    return {width, height: width};
  }
  const width = Math.min(Math.max(glyph.width * 0.15, 6), 28);
  return {width, height: width < 8 ? width : Math.min(width * 1.5, Math.max(glyph.height * 0.6, 14))};
}

// From then on a rank that is stuck does nothing more.
function stuckSince({trace}: Timeline): number {
  const stuck = new Set(trace.findings.flatMap(({parties}) => parties.map(({rank}) => rank)));
  const lasts = [...stuck].map(rank => trace.calls.findLast(call => call.rank === rank)?.begin ?? trace.duration);
  return lasts.length === 0 ? Infinity : Math.max(...lasts);
}
