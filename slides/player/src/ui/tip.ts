// The little text beside the pointer.
import {pointIn} from './pointer.ts';

export class Tip {
  constructor(private readonly box: HTMLElement, private readonly root: HTMLElement,
              explain: (event: PointerEvent, target: Element) => string[], signal: AbortSignal) {
    root.addEventListener('pointermove', event => this.show(event, explain(event, event.target as Element)), {signal});
    root.addEventListener('pointerleave', () => this.hide(), {signal});
  }

  private show(event: PointerEvent, lines: string[]) {
    if (lines.length === 0) return this.hide();
    this.box.replaceChildren(...lines.map(line => {
      const element = document.createElement('p');
      element.textContent = line;
      return element;
    }));
    this.box.hidden = false;
    const at = pointIn(this.root, event);
    const x = Math.min(at.x + 14, this.root.offsetWidth - this.box.offsetWidth - 6);
    const below = at.y + 16, height = this.box.offsetHeight;
    const y = below + height > this.root.offsetHeight ? below - height - 28 : below;
    this.box.style.transform = `translate(${Math.max(x, 4)}px, ${Math.max(y, 4)}px)`;
  }

  private hide() {
    this.box.hidden = true;
  }
}
