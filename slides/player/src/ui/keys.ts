// The keyboard, as a table; also what the help shows.

export type Action = 'play' | 'step' | 'back' | 'start' | 'end' | 'faster' | 'slower' | 'view' | 'predict' | 'theme' | 'help' | 'close';

const keys: [string[], Action, string][] = [
  [[' ', 'k'], 'play', 'play, pause'],
  [['ArrowRight', '.'], 'step', 'one step on'],
  [['ArrowLeft', ','], 'back', 'one step back'],
  [['Home'], 'start', 'to the beginning'],
  [['End'], 'end', 'to the end'],
  [['+', '='], 'faster', 'faster'],
  [['-'], 'slower', 'slower'],
  [['v'], 'view', 'next view'],
  [['p'], 'predict', 'predict what comes next; 1 to 6 answer'],
  [['t'], 'theme', 'light or dark'],
  [['?'], 'help', 'these keys'],
  [['Escape'], 'close', 'close this'],
];

const names: Record<string, string> = {' ': 'space', ArrowRight: '→', ArrowLeft: '←', Escape: 'Esc'};

export function actionOf(key: string): Action | undefined {
  const wanted = key.length === 1 ? key.toLowerCase() : key;
  return keys.find(([all]) => all.includes(wanted))?.[1];
}

export function helpTable(): HTMLElement {
  const list = document.createElement('dl');
  for (const [all, , words] of keys) {
    const term = document.createElement('dt'), meaning = document.createElement('dd');
    for (const key of all) {
      const sign = document.createElement('kbd');
      sign.textContent = names[key] ?? key.toUpperCase();
      term.append(sign);
    }
    meaning.textContent = words;
    list.append(term, meaning);
  }
  return list;
}
