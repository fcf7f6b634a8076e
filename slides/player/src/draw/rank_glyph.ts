// A rank in the picture: a card with its number and its cells, or a spoke of a crowded ring.
import {low_card, type Layout, type Place, type Size} from '../layout/layout.ts';
import type {RankSet} from '../model/ranks.ts';
import type {Doing, State} from '../model/timeline.ts';
import {drawLoad, type Box, type Scale} from './load.ts';
import {fillOf, most_colours, rankColour} from './palette.ts';
import {set, svg} from './svg.ts';

export class RankGlyph {
  readonly element: SVGGElement;
  private readonly boxes: Box[];
  private readonly cells: SVGElement[];
  private shown: (RankSet | undefined)[] = [];
  private readonly doingText = svg('text', {class: 'doing'});
  private doing: Doing | undefined;

  constructor(private readonly place: Place, layout: Layout, private readonly scale: Scale, private readonly labels: string[]) {
    const {width, height} = layout.glyph;
    const form = formOf(place, layout.glyph);
    const frame = svg('rect', {x: -width / 2, y: -height / 2, width, height, rx: form === 'card' || form === 'low' ? 9 : 2, class: 'card'});
    this.boxes = boxesOf(form, layout.glyph, place.cells.length);
    this.cells = this.boxes.map((box, i) => {
      const cell = {'data-cell': place.cells[i]!};
      return form === 'spoke' ? svg('rect', {...cell, ...box}) : svg('g', cell);
    });
    this.element = svg('g', {
      class: `rank as-${form}`, 'data-rank': place.rank,
      transform: `translate(${place.at.x} ${place.at.y})${form === 'spoke' ? ` rotate(${place.turn})` : ''}`,
    }, frame, ...this.cells);
    this.addName(width, height, form);
    if (form === 'card') this.addCellNames(textSize(width, height));
  }

  render(state: State) {
    const doing = state.doing[this.place.rank]!;
    if (doing !== this.doing) {
      this.doing = doing;
      this.element.setAttribute('data-doing', doing);
      this.doingText.textContent = doing === 'waiting' || doing === 'computing' ? doing : '';
    }
    const held = state.held[this.place.rank]!;
    this.place.cells.forEach((cell, i) => {
      const has = held[cell]!;
      if (has === this.shown[i]) return;
      this.shown[i] = has;
      this.draw(this.cells[i]!, this.boxes[i]!, has);
    });
  }

  // A spoke has thousands of boxes: one rectangle each, whose colour changes.
  private draw(cell: SVGElement, box: Box, has: RankSet) {
    if (this.place.turn === undefined) {
      cell.replaceChildren(...drawLoad(box, has, this.scale));
      return;
    }
    cell.setAttribute('fill', fillOf(has, this.scale.complete, this.scale.ranks));
  }

  private addName(width: number, height: number, form: Form) {
    const {rank, turn} = this.place;
    if (form === 'spoke') {
      const every = width < 9 ? 4 : 1;
      const label = svg('text', {class: 'name small', transform: `translate(0 ${-height / 2 - 9}) rotate(${-turn!})`}, `${rank}`);
      if (rank % every === 0) this.element.append(label);
    } else if (form === 'small') {
      this.element.append(svg('text', {x: 0, y: -height / 2 - 6, class: 'name small'}, `${rank}`));
    } else {
      const size = textSize(width, height), y = form === 'low' ? 0 : -height / 2 + size * 1.05;
      const dot = svg('circle', {class: 'dot', r: size * 0.32, cx: -width / 2 + size * 0.9, cy: y, fill: rankColour(rank, this.scale.ranks)});
      const x = -width / 2 + size * (this.hasColours() ? 1.55 : 0.6);
      this.element.append(...(this.hasColours() ? [dot] : []),
                          svg('text', {x, y, class: 'name', 'font-size': size}, `${width > 62 && form === 'card' ? 'rank ' : ''}${rank}`));
      set(this.doingText, {x: width / 2 - 8, y, 'font-size': size * 0.8});
      if (form === 'card' && width > size * 10.4) this.element.append(this.doingText);
    }
  }

  private hasColours() {
    return this.scale.ranks <= most_colours;
  }

  private addCellNames(size: number) {
    this.boxes.forEach((box, i) => {
      if (box.width < size * 0.75) return;
      this.element.append(svg('text', {x: box.x + box.width / 2, y: box.y + box.height + size * 0.62, class: 'cell-name', 'font-size': size * 0.78},
                              this.labels[this.place.cells[i]!]!));
    });
  }
}

type Form = 'spoke' | 'small' | 'low' | 'card';

function formOf({turn}: Place, {width, height}: Size): Form {
  if (turn !== undefined) return 'spoke';
  if (height >= low_card && width >= 34) return 'card';
  return width >= 90 && height >= 24 ? 'low' : 'small';
}

// A card that is large on the wall has large words.
const textSize = (width: number, height: number) => Math.min(Math.max(Math.min(width / 8, height / 6.5), 12), 22);

function boxesOf(form: Form, size: Size, count: number): Box[] {
  const {width, height} = size, text = textSize(width, height);
  switch (form) {
    case 'spoke': return stacked(size, count);
    case 'small': return beside(size, count, {left: 1, top: 1, right: 1, bottom: 1});
    case 'low': return beside(size, count, {left: text * 3, top: 5, right: 6, bottom: 5});
    case 'card': return beside(size, count, {left: 8, top: text * 1.95, right: 8, bottom: text * 1.2});
  }
}

// Side by side, within these margins.
function beside({width, height}: Size, count: number, margin: Record<'left' | 'top' | 'right' | 'bottom', number>): Box[] {
  const {left, top, right, bottom} = margin;
  const step = (width - left - right) / Math.max(count, 1), gap = step > 30 ? 4 : step > 6 ? 2 : step > 2.5 ? 0.5 : 0;
  return Array.from({length: count}, (_, i) => ({
    x: -width / 2 + left + i * step + gap / 2, y: -height / 2 + top, width: step - gap,
    height: Math.max(height - top - bottom, 4),
  }));
}

// From the middle of the ring outwards.
function stacked({width, height}: Size, count: number): Box[] {
  const step = height / Math.max(count, 1), gap = step > 4 ? 0.8 : 0;
  return Array.from({length: count}, (_, i) => ({
    x: -width / 2, y: height / 2 - (i + 1) * step + gap / 2, width, height: step - gap,
  }));
}
