/** Where Mantine keeps the chosen scheme. */
export const colorSchemeKey = 'mantine-color-scheme-value'

/** Before anything is drawn, so that nothing flashes: as chosen, else as the system is. */
export function applyColorScheme(
  page: Pick<HTMLElement, 'setAttribute'>,
  storage: Pick<Storage, 'getItem'>,
  isSystemDark: boolean,
): void {
  const chosen = storage.getItem(colorSchemeKey)
  const scheme = chosen === 'light' || chosen === 'dark' ? chosen : isSystemDark ? 'dark' : 'light'
  page.setAttribute('data-mantine-color-scheme', scheme)
}
