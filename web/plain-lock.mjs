// Takes addresses out of the lock: where packages come from is for npm's settings to say.
// Run after `npm install --omit-lockfile-registry-resolved`.
import { readFileSync, writeFileSync } from 'node:fs'

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
for (const each of Object.values(lock.packages)) {
  delete each.funding
  delete each.resolved
}
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
