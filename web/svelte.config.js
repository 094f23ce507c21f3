import { vitePreprocess } from '@sveltejs/vite-plugin-svelte'

export default {
  preprocess: vitePreprocess(),
  compilerOptions: {
    // A name by the style's own text: the default is made from the file's path on this machine.
    cssHash: ({ hash, css }) => `s-${hash(css)}`,
  },
}
