import { describe, expect, it } from '@jest/globals'
import { seededRandom } from '@opsplane/testing'
import { bothPossible, clashOf, type Need } from './both-stages.js'

const need = (people: string[] | null, count = 1): Need => ({ people, count })

/** Tries every group of people for the first stage. */
function bruteForce(before: readonly Need[], after: readonly Need[]): boolean {
  const people = [...new Set([...before, ...after].flatMap((rule) => rule.people ?? []))]
  const enough = (rules: readonly Need[], counts: (id: string) => boolean) =>
    rules.every((rule) => rule.people === null || rule.people.filter(counts).length >= rule.count)
  return Array.from({ length: 2 ** people.length }, (_, bits) => bits).some((bits) => {
    const first = new Set(people.filter((__, place) => bits & (1 << place)))
    return enough(before, (id) => first.has(id)) && enough(after, (id) => !first.has(id))
  })
}

function randomStages(seed: number): [Need[], Need[]] {
  const random = seededRandom(seed)
  const everybody = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].slice(0, 2 + Math.floor(random() * 6))
  const rule = (): Need => {
    if (random() < 0.1) return need(null, 1 + Math.floor(random() * 3))
    const people = everybody.filter(() => random() < 0.55)
    return need(people, Math.min(people.length, 1 + Math.floor(random() * 3)))
  }
  const rules = () => Array.from({ length: 1 + Math.floor(random() * 5) }, rule)
  return [rules(), rules()]
}

describe('two stages without anybody in both', () => {
  it('are possible exactly where some choice of people says so', () => {
    const answers = { possible: 0, impossible: 0 }
    for (let seed = 1; seed <= 2000; seed++) {
      const [before, after] = randomStages(seed)
      const expected = bruteForce(before, after)
      expect({ seed, possible: bothPossible(before, after) }).toEqual({ seed, possible: expected })
      answers[expected ? 'possible' : 'impossible']++
    }
    // The sample says something of both.
    expect(Math.min(answers.possible, answers.impossible)).toBeGreaterThan(200)
  })

  it('clash over rules of which none is there in vain', () => {
    for (let seed = 1; seed <= 1000; seed++) {
      const [before, after] = randomStages(seed)
      const clash = clashOf(before, after)
      expect(clash === undefined).toBe(bruteForce(before, after))
      if (clash === undefined) continue
      const left = (without?: readonly ['before' | 'after', number]) => {
        const of = (stage: 'before' | 'after', rules: readonly Need[]) =>
          clash[stage]
            .filter((place) => without?.[0] !== stage || without[1] !== place)
            .flatMap((place) => rules[place] ?? [])
        return bruteForce(of('before', before), of('after', after))
      }
      expect(left()).toBe(false)
      for (const stage of ['before', 'after'] as const)
        for (const place of clash[stage])
          expect({ seed, left: left([stage, place]) }).toEqual({ seed, left: true })
    }
  })

  it.each([
    [
      'three overlapping pairs need two of the three that the other stage needs two of',
      ['ab', 'bc', 'ac'],
      2,
    ],
    ['a ring of five needs three', ['ab', 'bc', 'cd', 'de', 'ea'], 3],
  ])('%s', (_, pairs, left) => {
    const before = pairs.map((pair) => need([...pair]))
    const people = [...new Set(pairs.join(''))]
    expect(clashOf(before, [need(people, left)])).toEqual({
      before: before.map((__, place) => place),
      after: [0],
    })
    expect(clashOf(before, [need(people, left - 1)])).toBeUndefined()
    expect(clashOf(before, [need([...people, 'z'], left)])).toBeUndefined()
    expect(clashOf(before.slice(1), [need(people, left)])).toBeUndefined()
  })

  it('asks anyone without end, and nobody for what is given already', () => {
    expect(clashOf([need(null, 3)], [need(['a'])])).toBeUndefined()
    expect(clashOf([need(['a'], 0)], [need(['a'])])).toBeUndefined()
    expect(clashOf([need(['a'])], [need(null, 3)])).toBeUndefined()
    expect(clashOf([], [need([])])).toEqual({ before: [], after: [0] })
  })
})
