import { StrictMode, startTransition } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { HydratedRouter } from 'react-router/dom'
import { pageNonce } from '#web/platform/page-meta.tsx'
import { standInForMissingCode } from '#web/shell/screen-code.ts'

// The library that locks the page behind a dialog writes a style element and looks for its nonce under this name.
Object.assign(globalThis, { __webpack_nonce__: pageNonce() })

// While developing, a file that is missing is one that was just changed.
if (import.meta.env.PROD) standInForMissingCode()

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>
      <HydratedRouter />
    </StrictMode>,
  )
})
