// Builds the player as one HTML file without any other: scripts and styles are put into the page. The place of the
// trace stays, for `./distlab trace --html` to fill.
import {defineConfig, type Plugin} from 'vite';

const inline: Plugin = {
  name: 'inline',
  enforce: 'post',
  generateBundle(_, bundle) {
    const page = Object.values(bundle).find(file => file.fileName.endsWith('.html'));
    if (page?.type !== 'asset') throw new Error('there is no page to put the script into');
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue;
      const tag = new RegExp(`<script[^>]*src="[^"]*${file.fileName}"[^>]*></script>`);
      const code = file.code.replaceAll('</script', '<\\/script').trim();
      const script = `<script type="module">${code}</script>`;
      const html = `${page.source}`;
      if (!tag.test(html)) throw new Error(`the page does not ask for ${file.fileName}`);
      // At the end: the script finds the element with its trace.
      page.source = html.replace(tag, '').replace('</body>', () => `${script}\n</body>`);
      delete bundle[file.fileName];
    }
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [inline],
  build: {
    outDir: '../../build/slides/player',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: Infinity,
  },
});
