import { mount } from 'svelte'
import App from './App.svelte'
import { listen } from './parts/events.svelte'
import { takeKey } from './parts/session'
import { applyTheme } from './parts/theme.svelte'
import './style.css'

takeKey()
applyTheme()
listen()

export default mount(App, { target: document.getElementById('page')! })
