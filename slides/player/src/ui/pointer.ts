// Where a pointer is in a box, in the box's own pixels: a slide shows them larger or smaller.
import type {Point} from '../layout/layout.ts';

export function pointIn(box: HTMLElement, {clientX, clientY}: {clientX: number; clientY: number}): Point {
  const {left, top, width} = box.getBoundingClientRect();
  const scale = box.offsetWidth > 0 && width > 0 ? width / box.offsetWidth : 1;
  return {x: (clientX - left) / scale, y: (clientY - top) / scale};
}
