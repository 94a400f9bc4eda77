import headings from './bricolage-grotesque-latin.woff2?url'
import words from './inter-latin.woff2?url'

/** The addresses of the fonts that every page is written in. */
export const preloadedFonts = [words, headings]
