/** The local storage key under which Mantine stores the colour scheme. */
export const colorSchemeKey = 'mantine-color-scheme-value'

/** Applies the chosen colour scheme, otherwise that of the system; runs before the first paint to avoid flashing. */
export function applyColorScheme(
  page: Pick<HTMLElement, 'setAttribute'>,
  storage: Pick<Storage, 'getItem'>,
  isSystemDark: boolean,
): void {
  const chosen = storage.getItem(colorSchemeKey)
  const scheme = chosen === 'light' || chosen === 'dark' ? chosen : isSystemDark ? 'dark' : 'light'
  page.setAttribute('data-mantine-color-scheme', scheme)
}
