// Runs before the first paint, so that nobody sees the wrong theme or the wrong header for a moment.
;(() => {
  const root = document.documentElement
  let theme = 'dark'
  let session = 'out'
  try {
    if (localStorage.getItem('theme') === 'light') theme = 'light'
    if (localStorage.getItem('accessToken') && localStorage.getItem('user')) session = 'in'
  } catch {
    // A browser that forbids storage gets the dark theme, signed out.
  }
  root.classList.toggle('dark', theme === 'dark')
  root.setAttribute('data-mantine-color-scheme', theme)
  root.dataset.session = session
  // The security policy forbids code made from text: tell the validator before it tries.
  globalThis.__zod_globalConfig = { jitless: true }
})()
