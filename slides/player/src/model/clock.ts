// Clock: which time of the trace is shown, as wall-clock time goes on.

export const speeds = [0.25, 0.5, 1, 2, 4, 8] as const;

const seconds_a_moment = 0.7, shortest = 3, longest = 45; // of a whole trace at speed 1

export class Clock {
  time = 0;
  playing = false;
  speed = 1;
  private until: number; // it stops there

  constructor(readonly duration: number, moments: number) {
    this.until = duration;
    this.seconds = Math.min(Math.max(moments * seconds_a_moment, shortest), longest);
  }
  readonly seconds: number;

  // Starts again from the beginning when it is at the end. It stops at `until`.
  play(until = this.duration) {
    if (this.time >= this.duration) this.time = 0;
    this.until = until;
    this.playing = this.time < until;
  }

  pause() {
    this.playing = false;
  }

  seek(time: number) {
    this.time = Math.min(Math.max(time, 0), this.duration);
  }

  // This many seconds of wall-clock time have passed.
  tick(seconds: number) {
    if (!this.playing) return;
    this.time = Math.min(this.time + (seconds * this.speed * this.duration) / this.seconds, this.until);
    if (this.time >= this.until) this.playing = false;
  }

  faster(steps: number) {
    const at = speeds.findIndex(speed => speed >= this.speed);
    this.speed = speeds[Math.min(Math.max(at + steps, 0), speeds.length - 1)]!;
  }
}
