// The predict mode: it asks before messages leave, and goes on when the user has read the answer.
import {questionsOf, type Question} from '../model/questions.ts';
import type {Timeline} from '../model/timeline.ts';

const seconds_to_read = 1.6;

export class Quiz {
  on = false;
  private readonly questions: Question[];
  private next = 0;
  private asked = 0;
  private correct = 0;
  private isAnswered = true;

  constructor(timeline: Timeline, private readonly panel: HTMLElement, private readonly goOn: () => void) {
    this.questions = questionsOf(timeline);
  }

  get isEmpty() {
    return this.questions.length === 0;
  }
  get isOpen() {
    return this.on && !this.panel.hidden;
  }

  switch(on: boolean, time: number) {
    this.on = on;
    this.asked = this.correct = 0;
    this.moved(time);
  }

  // The time was set by hand: earlier moments are not asked about any more.
  moved(time: number) {
    this.next = this.questions.findIndex(({at}) => at >= time);
    if (this.next < 0) this.next = this.questions.length;
    this.close();
  }

  // The time up to which the animation may run before the next question.
  get until(): number {
    return this.on ? this.questions[this.next]?.at ?? Infinity : Infinity;
  }

  // Opens the question of this time, if there is one.
  ask(time: number): boolean {
    const question = this.questions[this.next];
    if (!this.on || !question || question.at > time || this.isOpen) return this.isOpen;
    this.isAnswered = false;
    const text = document.createElement('p');
    text.textContent = question.text;
    const answers = document.createElement('div');
    answers.className = 'answers';
    answers.append(...question.answers.map((answer, i) => this.button(answer, i)));
    const verdict = document.createElement('p');
    verdict.className = 'verdict';
    verdict.setAttribute('role', 'status');
    this.panel.replaceChildren(text, answers, verdict);
    this.panel.hidden = false;
    answers.querySelector('button')!.focus();
    return true;
  }

  answer(choice: number) {
    const question = this.questions[this.next];
    if (!this.isOpen || this.isAnswered || !question || choice >= question.answers.length) return;
    this.isAnswered = true;
    ++this.asked;
    const isRight = choice === question.right;
    if (isRight) ++this.correct;
    const buttons = [...this.panel.querySelectorAll('button')];
    buttons[question.right]!.classList.add('right');
    if (!isRight) buttons[choice]!.classList.add('wrong');
    this.panel.querySelector('.verdict')!.textContent =
      `${isRight ? 'Yes.' : 'No.'} ${question.because} ${this.correct} of ${this.asked} right.`;
    setTimeout(() => this.leave(question), (isRight ? 1 : 2) * seconds_to_read * 1000);
  }

  // The user may also open it early, by hand.
  skip() {
    const question = this.questions[this.next];
    if (this.isOpen && question) this.leave(question);
  }

  private leave(question: Question) {
    if (this.questions[this.next] !== question || !this.isOpen) return; // the user has left it in another way
    ++this.next;
    this.close();
    this.goOn();
  }

  private close() {
    this.panel.hidden = true;
  }

  private button(answer: string, i: number): HTMLElement {
    const button = document.createElement('button');
    button.type = 'button';
    const key = document.createElement('kbd');
    key.textContent = `${i + 1}`;
    button.append(key, ` ${answer}`);
    button.addEventListener('click', () => this.answer(i));
    return button;
  }
}
