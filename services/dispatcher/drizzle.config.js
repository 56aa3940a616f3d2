/** `npx drizzle-kit generate` writes the migration for what changed in the compiled schema. */
export default { dialect: 'postgresql', schema: './dist/schema.js', out: './migrations' }
