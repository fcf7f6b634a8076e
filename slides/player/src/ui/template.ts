// The player's inner page. Buttons are named for screen readers; their titles say the key.

const button = (action: string, name: string, sign: string, key: string) =>
  `<button type="button" data-action="${action}" aria-label="${name}" title="${name} (${key})">${sign}</button>`;

const icon = (path: string) => `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"/></svg>`;

export const icons = {
  play: icon('M8 5v14l11-7z'),
  pause: icon('M6 5h4v14H6zM14 5h4v14h-4z'),
};

export const template = `
<section class="player" aria-label="Animation of a trace">
  <header>
    <div class="heading"><h1></h1><p class="operation"></p></div>
    <div class="legend" role="note" aria-label="Colours"></div>
    <div class="tools">
      <label>view <select data-action="view"></select></label>
      <button type="button" data-action="predict" aria-pressed="false" title="Predict what comes next (P)">predict</button>
      <button type="button" data-action="perfetto" title="Shows this trace in Perfetto, on the web; Shift keeps it as a file">Perfetto</button>
      ${button('theme', 'Light or dark', icon('M12 3a9 9 0 1 0 0 18zM12 5v14a7 7 0 0 0 0-14z'), 'T')}
      ${button('help', 'Keys', '?', '?')}
    </div>
  </header>
  <div class="stage" role="img" tabindex="0" aria-label=""></div>
  <div class="question" role="group" aria-label="Question" hidden></div>
  <div class="finding" role="note" hidden></div>
  <div class="lanes" aria-hidden="true"><div class="head"></div></div>
  <footer>
    ${button('start', 'To the beginning', icon('M6 5h2v14H6zM19 5v14L9 12z'), 'Home')}
    ${button('back', 'One step back', icon('M16 5v14L6 12zM17 5h2v14h-2z'), '←')}
    ${button('play', 'Play', icons.play, 'space')}
    ${button('step', 'One step on', icon('M8 5v14l10-7zM5 5h2v14H5z'), '→')}
    ${button('end', 'To the end', icon('M16 5h2v14h-2zM5 5v14l10-7z'), 'End')}
    <input type="range" min="0" max="1000" step="1" value="0" aria-label="Time">
    <output class="time"></output>
    <label class="speed">speed <select data-action="speed"></select></label>
  </footer>
  <div class="tip" role="tooltip" hidden></div>
  <div class="keys" hidden></div>
  <div class="live" aria-live="polite"></div>
  <div class="strip"></div>
</section>`;
