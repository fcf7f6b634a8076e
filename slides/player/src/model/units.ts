// Times and sizes as people read them.

const timeUnits: [string, number][] = [['s', 1e12], ['ms', 1e9], ['µs', 1e6], ['ns', 1e3], ['ps', 1]];
const byteUnits: [string, number][] = [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]];

// In the unit that suits `scale` (by default the time itself), so that a row of times has one unit.
export function timeText(picoseconds: number, scale = picoseconds): string {
  const [name, size] = timeUnits.find(([, unit]) => scale >= unit) ?? ['ps', 1];
  const value = picoseconds / size;
  return `${value.toFixed(size === 1 ? 0 : scale / size >= 100 ? 1 : 2)} ${name}`;
}

export function bytesText(bytes: number): string {
  const [name, size] = byteUnits.find(([, unit]) => bytes >= unit) ?? ['', 1];
  if (name === '') return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${Number((bytes / size).toFixed(1))} ${name}`;
}
