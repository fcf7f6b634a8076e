// A trace being shown: the clock, the picture, the controls and the questions work together here.
import {type View, viewsFor} from '../layout/views.ts';
import {drawStrip} from '../draw/strip.ts';
import {Clock, speeds} from '../model/clock.ts';
import {endText, momentText, operationText} from '../model/explain.ts';
import {rankWords} from '../model/ranks.ts';
import {Timeline} from '../model/timeline.ts';
import type {Trace} from '../model/trace.ts';
import {timeText} from '../model/units.ts';
import {type Action, actionOf, helpTable} from './keys.ts';
import {legendOf} from './legend.ts';
import {Picture} from './picture.ts';
import {Quiz} from './quiz.ts';
import {icons} from './template.ts';
import {Tip} from './tip.ts';

const most_parties = 4; // of a finding, in words

export class Show {
  private readonly timeline: Timeline;
  private readonly clock: Clock;
  private readonly picture: Picture;
  private readonly quiz: Quiz;
  private readonly listening = new AbortController();
  private readonly resized = new ResizeObserver(() => this.picture.fits() || this.redraw());
  private last = 0; // of the frames, in milliseconds
  private frame = 0;
  private act = -1;
  private goal = Infinity; // a step's end

  constructor(private readonly host: HTMLElement, private readonly root: HTMLElement, private readonly trace: Trace) {
    this.timeline = new Timeline(trace);
    this.clock = new Clock(trace.duration, this.timeline.moments.length);
    this.picture = new Picture(this.timeline, this.part('.stage'), this.part('.lanes'));
    this.quiz = new Quiz(this.timeline, this.part('.question'), () => this.play());
    this.picture.view = (host.getAttribute('view') ?? 'auto') as View | 'auto';
    this.part('h1').textContent = trace.title || 'a trace';
    this.part<HTMLButtonElement>('[data-action="predict"]').disabled = this.quiz.isEmpty;
    this.part('.keys').replaceChildren(helpTable());
    this.part('[data-action="speed"]').replaceChildren(...speeds.map(speed => new Option(`${speed} ×`, `${speed}`, false, speed === 1)));
    this.tellFindings();
    this.listen();
    this.render();
    if (host.hasAttribute('predict')) this.do('predict');
  }

  get time() {
    return this.clock.time;
  }
  get playing() {
    return this.clock.playing;
  }

  setView(view: string) {
    this.picture.view = view as View | 'auto';
    this.redraw();
  }

  pause() {
    this.clock.pause();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.render();
  }

  // Another trace will be shown in the same page.
  close() {
    this.pause();
    this.listening.abort();
    this.resized.disconnect();
  }

  private play(goal = Infinity) {
    this.goal = goal;
    if (this.clock.time >= this.trace.duration) {
      this.clock.seek(0);
      this.quiz.moved(0);
    }
    if (this.quiz.ask(this.clock.time)) return this.render();
    this.clock.play(Math.min(goal, this.quiz.until, this.trace.duration));
    this.last = performance.now();
    if (this.frame === 0) this.frame = requestAnimationFrame(now => this.tick(now));
    this.render();
  }

  private tick(now: number) {
    this.clock.tick(Math.max(now - this.last, 0) / 1000);
    this.last = now;
    this.render();
    if (this.clock.playing) {
      this.frame = requestAnimationFrame(next => this.tick(next));
      return;
    }
    this.frame = 0;
    if (this.quiz.until <= this.clock.time && this.quiz.ask(this.clock.time)) return this.render();
    this.say(momentText(this.timeline.at(this.clock.time), this.timeline));
  }

  private seek(time: number) {
    this.clock.seek(time);
    this.quiz.moved(this.clock.time);
    this.pause();
    this.say(momentText(this.timeline.at(this.clock.time), this.timeline));
  }

  // A step forward is played, so that you see the messages fly; with the system's "reduced motion" you see its end
  // at once.
  private step() {
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const from = this.clock.playing ? Math.min(this.goal, this.trace.duration) : this.clock.time;
    const to = this.timeline.after(Math.max(from, this.clock.time));
    if (this.clock.playing || isStill) this.seek(this.clock.playing ? from : to);
    else if (this.clock.time < this.trace.duration) this.play(to);
  }

  private do(action: Action) {
    switch (action) {
      case 'play': return this.quiz.isOpen ? this.quiz.skip() : this.clock.playing ? this.pause() : this.play();
      case 'step': return this.quiz.isOpen ? this.quiz.skip() : this.step();
      case 'back': return this.seek(this.timeline.before(this.clock.time));
      case 'start': return this.seek(0);
      case 'end': return this.seek(this.trace.duration);
      case 'faster': return this.faster(1);
      case 'slower': return this.faster(-1);
      case 'view': return this.nextView();
      case 'predict': return this.predict();
      case 'theme': return this.theme();
      case 'help': return void (this.part('.keys').hidden = !this.part('.keys').hidden);
      case 'close': return void (this.part('.keys').hidden = true);
    }
  }

  private faster(steps: number) {
    this.clock.faster(steps);
    this.part<HTMLSelectElement>('[data-action="speed"]').value = `${this.clock.speed}`;
  }

  private nextView() {
    const can = viewsFor(this.timeline.acts[Math.max(this.act, 0)]!, this.trace);
    const at = can.indexOf(this.picture.viewOf(Math.max(this.act, 0)));
    this.setView(can[(at + 1) % can.length]!);
  }

  private predict() {
    if (this.quiz.isEmpty) return;
    this.quiz.switch(!this.quiz.on, this.clock.time);
    this.part('[data-action="predict"]').setAttribute('aria-pressed', `${this.quiz.on}`);
    if (this.quiz.on) this.play();
  }

  private theme() {
    const isDark = this.host.getAttribute('theme') === 'dark' ||
                   (!this.host.hasAttribute('theme') && matchMedia('(prefers-color-scheme: dark)').matches);
    this.host.setAttribute('theme', isDark ? 'light' : 'dark');
  }

  private redraw() {
    this.picture.forget();
    this.act = -1;
    this.render();
  }

  private render() {
    const state = this.timeline.at(this.clock.time);
    // The answer to an open question is not shown yet.
    if (this.quiz.isOpen) state.flights = state.flights.filter(({message}) => message.begin < state.time);
    this.part('.lanes').classList.toggle('without-future', this.quiz.on);
    if (state.act !== this.act) this.showAct(state.act);
    const {duration} = this.trace;
    const range = this.part<HTMLInputElement>('input');
    range.value = `${duration === 0 ? 0 : (1000 * state.time) / duration}`;
    range.setAttribute('aria-valuetext', timeText(state.time, duration));
    this.part('.time').textContent = `${timeText(state.time, duration)} of ${timeText(duration)}`;
    this.part('.finding').classList.toggle('at-end', state.time >= duration);
    const play = this.part('footer [data-action="play"]');
    const name = this.clock.playing ? 'Pause' : 'Play';
    if (play.getAttribute('aria-label') !== name) {
      play.setAttribute('aria-label', name);
      play.innerHTML = this.clock.playing ? icons.pause : icons.play;
    }
    this.picture.render(state); // last: the words around it decide its size
  }

  private showAct(index: number) {
    this.act = index;
    const act = this.timeline.acts[index]!;
    const several = this.timeline.acts.length > 1 ? `${index + 1} of ${this.timeline.acts.length}: ` : '';
    this.part('.operation').textContent = several + operationText(act);
    this.part('.legend').replaceChildren(...legendOf(act, this.trace.ranks));
    const shown = this.picture.viewOf(index);
    this.part('[data-action="view"]').replaceChildren(
      ...viewsFor(act, this.trace).map(view => new Option(view, view, false, view === shown)));
    this.part('.stage').setAttribute('aria-label',
      `${this.trace.ranks} ranks, drawn as ${shown}. ${operationText(act)}. Space plays, the right arrow makes a step.`);
  }

  private tellFindings() {
    const [finding] = this.trace.findings;
    const banner = this.part('.finding');
    banner.hidden = !finding;
    if (!finding) return;
    const headline = document.createElement('strong');
    headline.textContent = `${finding.code} ${finding.title}`;
    const what = document.createElement('span');
    what.textContent = finding.what;
    const mend = document.createElement('em');
    mend.textContent = finding.mend;
    const parties = document.createElement('ul');
    for (const {rank, doing, where, waits_for} of finding.parties.slice(0, most_parties)) {
      const line = document.createElement('li');
      line.textContent = `rank ${rank}: ${doing}${where ? ` at ${where}` : ''}${waits_for.length > 0 ? `, waits for ${rankWords(waits_for)}` : ''}`;
      parties.append(line);
    }
    banner.replaceChildren(headline, what, parties, mend);
  }

  private listen() {
    const {signal} = this.listening;
    this.root.addEventListener('click', event => this.clicked(event), {signal});
    this.root.addEventListener('keydown', event => this.pressed(event), {signal});
    this.part('input').addEventListener('input', () =>
      this.seek((Number(this.part<HTMLInputElement>('input').value) / 1000) * this.trace.duration), {signal});
    this.part('[data-action="view"]').addEventListener('change', event => this.setView((event.target as HTMLSelectElement).value), {signal});
    this.part('[data-action="speed"]').addEventListener('change', event =>
      void (this.clock.speed = Number((event.target as HTMLSelectElement).value)), {signal});
    const lanes = this.part('.lanes');
    lanes.addEventListener('pointerdown', event => this.seek(this.picture.laneTime(event) ?? this.clock.time), {signal});
    new Tip(this.part('.tip'), this.root, (event, target) => this.picture.explain(event, target, this.timeline.at(this.clock.time)), signal);
    this.resized.observe(this.part('.stage'));
    const print = () => this.part('.strip').replaceChildren(...drawStrip(this.timeline, this.picture.view));
    window.addEventListener('beforeprint', print, {signal});
  }

  private clicked(event: Event) {
    const button = (event.target as Element).closest('button[data-action]');
    const action = button?.getAttribute('data-action');
    if (action && action !== 'perfetto') this.do(action as Action);
    else if ((event.target as Element).closest('.keys')) this.do('close');
  }

  // Does what the key stands for, and then stops other handlers.
  pressed(event: KeyboardEvent) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const target = event.target as Element;
    const isButton = target.closest('button, select') !== null && (event.key === ' ' || target.closest('select') !== null);
    const digit = this.quiz.isOpen ? '123456'.indexOf(event.key) : -1;
    if (digit >= 0) this.quiz.answer(digit);
    const action = isButton || digit >= 0 ? undefined : actionOf(event.key);
    if (action) this.do(action);
    if (action || digit >= 0) {
      event.preventDefault();
      event.stopPropagation(); // slides have keys of their own
    }
  }

  private say(text: string) {
    const live = this.part('.live');
    if (live.textContent !== text) live.textContent = text;
    if (this.clock.time >= this.trace.duration && this.trace.findings.length > 0)
      live.textContent = endText(this.timeline.at(this.clock.time), this.timeline);
  }

  private part<Part extends HTMLElement = HTMLElement>(selector: string): Part {
    return this.root.querySelector<Part>(selector)!;
  }
}
