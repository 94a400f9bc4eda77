import { expect, test } from 'vitest'
import { searchKey } from './search.ts'

test.each([
  ['accents', 'Café Müller Škoda Łódź Ångström', 'cafe muller skoda lodz angstrom'],
  ['accents that are written apart', 'Cafe\u0301', 'cafe'],
  ['letters without a plain form', 'Straße Ærø þing ISTANBUL İzmir ışık', 'strasse aero thing istanbul izmir isik'],
  ['Greek case and accents', 'ΟΔΟΣ Άλφα', 'οδοσ αλφα'],
  ['width', 'ＡＢＣ１２３　ｶﾞ', 'abc123 ガ'],
  ['typographic quotes and dashes', '“Asha’s” – Neem—Co', '"asha\'s" - neem-co'],
  ['spaces and what is not shown', ' Neem\u00a0\u202f Studio\u200b\u00ad ', 'neem studio'],
  ['points of Hebrew and Arabic', 'שָׁלוֹם مُحَمَّد', 'שלום محمد'],
  ['no vowel of Hindi', 'कावेरी', 'कावेरी'],
  ['no voicing of kana', 'ガラス', 'ガラス'],
  ['no line', 'Neem\nasha@x.example', 'neem\nasha@x.example'],
])('a search folds %s', (_what, text, key) => {
  expect(searchKey(text)).toBe(key)
  expect(searchKey(key)).toBe(key)
})
