export const record = {
  events: 'Its events',
  raw: 'As the API has it',
  none: 'It has no form of its own, or is deleted. Its events say what it was.',
} as const
