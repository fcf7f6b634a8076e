// What runs in a deck: reveal.js, its notes for the speaker, the player.
import Reveal from 'reveal.js';
import Notes from 'reveal.js/plugin/notes';
import 'reveal.js/reveal.css';
import '../../player/src/ui/element.ts';
import './theme.css';

void Reveal.initialize({
  width: 1280, height: 720, margin: 0.02, center: false, hash: true, transition: 'none', slideNumber: 'c/t',
  controlsTutorial: false, pdfSeparateFragments: false, plugins: [Notes],
});
