// Runs before the first paint, so that the wrong theme or header never flashes.
;(() => {
  const root = document.documentElement
  // What the browser paints around the page: --ground in global.css.
  const grounds = { dark: '#0b0e14', light: '#f6f6f2' }
  const around = document.createElement('meta')
  around.name = 'theme-color'
  document.head.append(around)

  const read = (key) => {
    try {
      return localStorage.getItem(key)
    } catch {
      // A browser that forbids storage gets the dark theme, signed out.
      return null
    }
  }
  const show = () => {
    const theme = read('theme') === 'light' ? 'light' : 'dark'
    root.classList.toggle('dark', theme === 'dark')
    root.setAttribute('data-mantine-color-scheme', theme)
    around.content = grounds[theme]
  }
  show()
  // Tabs follow each other, those without the program's components too.
  addEventListener('storage', show)
  root.dataset.session = read('accessToken') && read('user') ? 'in' : 'out'
  // The security policy forbids code made from text: tell the validator before it tries.
  globalThis.__zod_globalConfig = { jitless: true }
})()
