import { mount } from 'svelte'
import App from './App.svelte'
import { listen } from './parts/events.svelte'
import { here } from './parts/router.svelte'
import { viewOf } from './views'

void viewOf(here.path)?.view.load() // on its way while the frame is being made
listen()
mount(App, { target: document.getElementById('page')! })
