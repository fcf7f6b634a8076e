// Where things are.
import path from 'node:path';
import {fileURLToPath} from 'node:url';

export const slides = fileURLToPath(new URL('..', import.meta.url));
export const root = path.join(slides, '..');
export const output = path.join(root, 'build/slides');
