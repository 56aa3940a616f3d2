/** How the installation is. */
export const platformTexts = { title: 'Platform' } as const
