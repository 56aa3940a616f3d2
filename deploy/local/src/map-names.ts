/** An object with a value for each of these names. */
export function mapNames<Name extends string, T>(
  names: readonly Name[],
  value: (name: Name) => T,
): Record<Name, T> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, T>
}
