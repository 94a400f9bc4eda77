import headings from './bricolage-grotesque-latin.woff2?url'
import words from './inter-latin.woff2?url'

/** The fonts that every page uses. */
export const preloadedFonts = [words, headings]
