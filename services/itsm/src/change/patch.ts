/** Returns the state with the fields given in a PATCH. */
export function applyPatch<State extends object>(
  state: State,
  patch: { [Name in keyof State]?: State[Name] | undefined },
): State {
  const definedEntries = Object.entries(patch).filter(([, value]) => value !== undefined)
  return { ...state, ...Object.fromEntries(definedEntries) }
}
