import { findProgram, installPackage } from './machine.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'microsoft-edge']
const folders = [
  '/Applications/Google Chrome.app/Contents/MacOS',
  '/Applications/Chromium.app/Contents/MacOS',
  '/snap/bin',
  'C:\\Program Files\\Google\\Chrome\\Application',
]

/** Chromium or Chrome on this machine, installed first if possible; null if there is none. */
export function findChromium(): string | null {
  const find = () => process.env.CHROMIUM ?? findProgram([...names, 'Google Chrome', 'Chromium', 'chrome.exe'], folders)
  return find() ?? (installPackage('chromium') ? find() : null)
}

/** Chromium without its window, which takes a fifth less CPU and is what Playwright itself runs; `findChromium` if there is none. */
export function findHeadlessChromium(): string | null {
  const name = 'chromium-headless-shell'
  const find = () => process.env.CHROMIUM ?? findProgram([name])
  return find() ?? (installPackage(name) ? find() : null) ?? findChromium()
}

/** Lets Chromium run anywhere, also as root in a container, and keeps it from contacting any server but the program. */
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
