export const errorText = (error: unknown) =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error)
