import { openSheets } from './open-sheets.ts'

/* Opens a file beside the page, which stays usable meanwhile. */
self.onmessage = async ({ data }: MessageEvent<ArrayBuffer>) => self.postMessage(await openSheets(data))
