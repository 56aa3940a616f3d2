/** Users, roles, keys, secrets and sign-on of a workspace. */
export const peopleTexts = { title: 'People' } as const
