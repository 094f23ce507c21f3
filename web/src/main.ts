import { mount } from 'svelte'
import App from './App.svelte'
import { listen } from './parts/events.svelte'
import { takeKey } from './parts/session'
import { applyTheme } from './parts/theme.svelte'
import { here } from './parts/router.svelte'
import { viewOf } from './views'
import './style.css'

takeKey()
void viewOf(here.path)?.view.load() // on its way while the frame is being made
applyTheme()
listen()

export default mount(App, { target: document.getElementById('page')! })
