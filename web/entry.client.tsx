import { StrictMode, startTransition } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { HydratedRouter } from 'react-router/dom'
import { pageNonce } from '#web/platform/page-meta.tsx'
import { followLinkedBusiness } from '#web/platform/session.ts'
import { guardScreenCode } from '#web/shell/screen-frame.tsx'

// react-remove-scroll, which locks the page behind a dialog, reads the nonce for its style element from this global.
Object.assign(globalThis, { __webpack_nonce__: pageNonce() })

// In development a missing file is one that just changed.
if (import.meta.env.PROD) guardScreenCode()

followLinkedBusiness()

// A page that was left for another site, and comes back from the browser's cache, would stay busy forever.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted && document.querySelector('[data-busy]')) window.location.reload()
})

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>
      <HydratedRouter />
    </StrictMode>,
  )
})
