const key = 'duely-said'

/** Keeps a message for the next screen of the dashboard, because loading a page discards its toasts. */
export function setFlashMessage(message: string): void {
  sessionStorage.setItem(key, message)
}

/** Returns the message once. */
export function takeFlashMessage(): string | null {
  const message = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  return message
}
