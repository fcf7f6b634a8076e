// What the colours of an operation mean.
import {most_colours, rankColour} from '../draw/palette.ts';
import type {Act} from '../model/timeline.ts';

export function legendOf({operation, holdings}: Act, ranks: number): HTMLElement[] {
  const items: HTMLElement[] = [];
  const item = (colour: string, text: string, sign = '') => {
    const element = document.createElement('span');
    const swatch = document.createElement('i');
    swatch.style.background = colour;
    swatch.textContent = sign;
    element.append(swatch, text);
    items.push(element);
  };
  if (ranks <= most_colours) {
    const roots = new Set(operation.messages.flatMap(({contributors}) => contributors));
    for (let rank = 0; rank < ranks; ++rank) {
      if (operation.kind !== 'copy' || roots.has(rank)) item(rankColour(rank, ranks), `${rank}`);
    }
  } else if (operation.kind === 'sum') {
    item('linear-gradient(90deg, var(--some), var(--most))', 'few … many ranks added up');
  } else {
    item('var(--has)', 'is there');
  }
  if (operation.kind === 'sum' && holdings.complete > 1) item('var(--complete)', 'complete sum', 'Σ');
  return items;
}
