import { describe, expect, it } from '@jest/globals'
import { findCodes } from '../codes.js'
import { splitIntoChunks } from '../embedding/chunks.js'
import { fuse } from './fusion.js'

const none = { exact: [], text: [], trigram: [], vector: [] }

describe('fusion of search results', () => {
  it('ranks results of several legs above those of one, and reports the rank in each leg', () => {
    const all = new Map(['a', 'b'].map((id) => [id, 1]))
    const fused = fuse({ ...none, text: ['a', 'b'], vector: ['c', 'b'] }, all)
    expect(fused.map(({ id }) => id)).toEqual(['b', 'a', 'c'])
    expect(fused[0]?.ranks).toEqual({ exact: null, text: 2, trigram: null, vector: 2 })
  })

  it('ranks the last exact match above the first match of all other legs', () => {
    const exact = Array.from({ length: 50 }, (_, at) => `exact-${at}`)
    const fused = fuse({ exact, text: ['a'], trigram: ['a'], vector: ['a'] })
    expect(fused.at(-1)?.id).toBe('a')
  })

  it('ranks a match by meaning above a few matching words, but not above most of them', () => {
    const others = Array.from({ length: 20 }, (_, at) => `other-${at}`)
    const found = { ...none, text: ['words'], vector: ['meant', ...others, 'words'] }
    const first = (coverage: number) => fuse(found, new Map([['words', coverage]]))[0]?.id
    expect([0, 0.2, 0.4].map(first)).toEqual(['meant', 'meant', 'meant'])
    expect([0.6, 1].map(first)).toEqual(['words', 'words'])
  })

  it('weights similar spelling highly only with a model, and by the degree of similarity', () => {
    const found = { ...none, text: ['words'], trigram: ['misspelt'] }
    expect(fuse(found)[0]?.id).toBe('words')
    const coverage = new Map([
      ['words', 0.2],
      ['misspelt', 0.8],
    ])
    expect(fuse(found, coverage)[0]?.id).toBe('misspelt')
  })
})

it('recognizes identifiers as codes, but not ordinary words with a digit', () => {
  expect(findCodes('See INC-7, KB-12. Error 0x80070005, AADSTS50011: ERR_CERT_INVALID at srv-db01')).toEqual([
    ...['inc-7', 'kb-12', '0x80070005', 'aadsts50011', 'err_cert_invalid', 'srv-db01'],
  ])
  expect(findCodes('ipv4 on Windows 11 in 2026, office365, a well-known e-mail')).toEqual([])
})

describe('chunks of an article', () => {
  const article = { title: 'Title', summary: null }

  it('start with the title, and lose no word', () => {
    const words = Array.from({ length: 2_000 }, (_, at) => `w${at}`)
    const pieces = splitIntoChunks({ ...article, body: words.join(' ') })
    expect(pieces.length).toBeGreaterThan(1)
    for (const piece of pieces) {
      expect(piece.startsWith('Title\n\n')).toBe(true)
      expect(piece.length).toBeLessThan(1_600)
    }
    expect(pieces.flatMap((piece) => piece.match(/w\d+/g) ?? [])).toEqual(words)
  })

  it('are also split within text without spaces, and an empty article has one chunk', () => {
    const pieces = splitIntoChunks({ ...article, body: 'x'.repeat(4_000) })
    expect(pieces.join('').match(/x/g)).toHaveLength(4_000)
    expect(splitIntoChunks({ ...article, body: '' })).toEqual(['Title'])
  })
})
