import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

// The built page is committed and compared byte for byte by the tests, so nothing in it may
// depend on where or when it was built: no source maps, names by content, one target.
export default defineConfig({
  base: '/ui/',
  plugins: [svelte()],
  publicDir: 'public',
  build: {
    outDir: '../src/madeleine/server/page',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    cssCodeSplit: false, // a few kB for all views; one request instead of one for each part
    manifest: 'views.json', // tells the daemon which file a view is in
    rolldownOptions: {
      output: {
        // What views share comes with the frame, in one file; what brings a library along comes with
        // the views that show it.
        codeSplitting: {
          groups: [
            // What is said, and what can be done before it is known in which language.
            {
              name: 'first',
              priority: 2,
              test: /src\/(messages\/en|parts\/(messages|languages|session|theme))|node_modules\/(svelte|esm-env|clsx|devalue)\//i,
            },
            { name: 'parts', priority: 1, test: /src\/parts\/(?!markdown|diff)/i },
          ],
        },
      },
    },
  },
  worker: { format: 'es' },
})
