const none = new Int32Array(0)

/**
 * Builds an index from the number of an item to the relations that have it at the given end. `size` is the number of
 * items. All relations are in one array, in which those of one item are adjacent and in their original order.
 */
export function indexRelations(ends: Int32Array, size: number): (number: number) => Int32Array {
  const begins = new Int32Array(size + 1)
  for (const end of ends) begins[end + 1] = (begins[end + 1] as number) + 1
  for (let number = 0; number < size; number++) {
    begins[number + 1] = (begins[number + 1] as number) + (begins[number] as number)
  }
  const [sorted, next] = [new Int32Array(ends.length), begins.slice()]
  for (let at = 0; at < ends.length; at++) {
    const end = ends[at] as number
    sorted[next[end] as number] = at
    next[end] = (next[end] as number) + 1
  }
  return (number) => (number < size ? sorted.subarray(begins[number], begins[number + 1]) : none)
}
