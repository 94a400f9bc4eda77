/** Letters that Unicode does not take apart into a letter and an accent. */
const plain: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ı: 'i', þ: 'th', ς: 'σ' }

/** What is not shown, lengthened Arabic letters, and marks of no single script or of Hebrew and Arabic; not the voicing of kana. */
const notCompared = /[\p{Cf}\u0640]|[[\p{M}&&[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]]--[\u3099\u309a]]/gv

/**
 * A text as a search compares it: without accents, vowel points, case, width, typographic quotes and dashes, characters that are not shown, and with single
 * spaces. Vowel signs of Indic scripts are letters and stay.
 */
export function searchKey(text: string): string {
  // Most of a long list.
  if (/^[\n -_a-~]*$/.test(text)) return text.toLowerCase().replace(/ +/g, ' ').trim()
  return text
    .normalize('NFKD')
    .replace(notCompared, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[ßæœøđðłıþς]/g, (letter) => plain[letter] ?? letter)
    .replace(/[‘’‚‛′ʼ`´]/g, "'")
    .replace(/[“”„‟«»″]/g, '"')
    .replace(/[\p{Pd}−]/gu, '-')
    .replace(/[^\S\n]+/g, ' ')
    .trim()
}
