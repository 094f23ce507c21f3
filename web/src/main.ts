/* The language first: what the rest of the page says is made when it is loaded. */

import { speakAsTheBrowser } from './parts/languages'
import { takeKey } from './parts/session'
import { applyTheme } from './parts/theme.svelte'
import './style.css'

takeKey()
applyTheme()
void speakAsTheBrowser().then(() => import('./start'))
