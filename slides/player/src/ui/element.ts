// <distlab-player>: the animation of one trace, which is JSON in a <script type="application/json"> inside it.
//
// Attributes: view ("ring", "tree", "double tree", "groups", "line"; chosen from the trace without it), theme
// ("light", "dark"; the system's without it), compact (no lanes), predict (asks from the start).
import {toChromeJson} from '../model/perfetto.ts';
import {parseTrace} from '../model/trace.ts';
import {openInPerfetto, keepAsFile} from './perfetto.ts';
import {Show} from './show.ts';
import style from './style.css?inline';
import {template} from './template.ts';

export class DistlabPlayer extends HTMLElement {
  static observedAttributes = ['view'];
  private show: Show | undefined;

  connectedCallback() {
    if (this.shadowRoot) return;
    this.attachShadow({mode: 'open'}).innerHTML = `<style>${style}</style>${template}`;
    const json = this.querySelector('script[type="application/json"]')?.textContent;
    if (json) this.load(json);
  }

  disconnectedCallback() {
    this.show?.pause();
  }

  attributeChangedCallback(_: string, __: string | null, view: string | null) {
    this.show?.setView(view ?? 'auto');
  }

  // Shows another trace; if the text is not a trace, the picture says so.
  load(json: string) {
    const root = this.shadowRoot!.querySelector<HTMLElement>('.player')!;
    const stage = root.querySelector('.stage')!;
    this.show?.close();
    this.show = undefined;
    stage.classList.remove('no-trace');
    try {
      const trace = parseTrace(json);
      this.show = new Show(this, root, trace);
      root.querySelector<HTMLElement>('[data-action="perfetto"]')!.onclick = ({shiftKey}) =>
        (shiftKey ? keepAsFile : openInPerfetto)(trace.title, toChromeJson(trace));
    } catch (error) {
      stage.textContent = error instanceof Error ? error.message : `${error}`;
      stage.classList.add('no-trace');
    }
  }

  // A key that was pressed elsewhere in the page.
  press(event: KeyboardEvent) {
    this.show?.pressed(event);
  }

  // The trace's title.
  get heading() {
    return this.shadowRoot?.querySelector('h1')?.textContent ?? '';
  }
  get time() {
    return this.show?.time ?? 0;
  }
  get playing() {
    return this.show?.playing ?? false;
  }
}

customElements.define('distlab-player', DistlabPlayer);
