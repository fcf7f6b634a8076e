// The page of ./distlab trace --html: one player, as large as the window, which gets all keys.
import {DistlabPlayer} from './ui/element.ts';

const player = document.querySelector('distlab-player');
if (player instanceof DistlabPlayer) document.title = player.heading || document.title;
document.addEventListener('keydown', event => {
  if (event.target === document.body && player instanceof DistlabPlayer) player.press(event);
});
